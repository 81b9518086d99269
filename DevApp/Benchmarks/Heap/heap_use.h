#pragma once

// Swift's module of the C library leaves this header out.
#if __has_include(<malloc.h>)
#include <malloc.h>
#endif
#include <stddef.h>

/// The bytes that the process has allocated and not freed, as the allocator counts them; 0 if it
/// does not count them.
static inline size_t heap_bytes_in_use(void) {
#if defined(__GLIBC__)
  struct mallinfo2 use = mallinfo2();
  return use.uordblks + use.hblkhd;
#else
  return 0;
#endif
}
