#pragma once

// Swift's module of the C library leaves this header out.
#if __has_include(<sys/epoll.h>)
#include <sys/epoll.h>
#endif
