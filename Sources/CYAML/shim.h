// The header of libyaml.
#include <yaml.h>
