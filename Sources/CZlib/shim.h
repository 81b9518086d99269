// The header of zlib, with a function in place of a macro, which Swift cannot call.
#include <zlib.h>

static inline int composite_inflate_begin(z_stream *stream, int window_bits) {
  return inflateInit2(stream, window_bits);
}
