// Counts the allocations of the program that it is linked into.
//
// The functions stand in for those of the C library in all libraries of the process, the Swift
// runtime included, because the dynamic linker looks into the program first. The memory is the C
// library's all the same, so nothing need stand in for `free`.

#define _GNU_SOURCE

#include "CAllocationCounter.h"

#include <stdlib.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define IS_SANITIZED
#endif
#endif

#if defined(__GLIBC__) && !defined(IS_SANITIZED)

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern long __sysconf(int name);

bool allocation_counter_is_available(void) { return true; }

// MARK: Allocations

static _Atomic int64_t allocations = 0;
static _Atomic int64_t bytes = 0;

struct AllocationTally allocation_counter_tally(void) {
  return (struct AllocationTally){
      .allocations = atomic_load_explicit(&allocations, memory_order_relaxed),
      .bytes = atomic_load_explicit(&bytes, memory_order_relaxed),
  };
}

static void *counted(void *block, size_t size) {
  if (block != NULL) {
    atomic_fetch_add_explicit(&allocations, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&bytes, (int64_t)size, memory_order_relaxed);
  }
  return block;
}

void *malloc(size_t size) { return counted(__libc_malloc(size), size); }

void *calloc(size_t count, size_t size) {
  return counted(__libc_calloc(count, size), count * size);
}

void *realloc(void *block, size_t size) { return counted(__libc_realloc(block, size), size); }

void *memalign(size_t alignment, size_t size) {
  return counted(__libc_memalign(alignment, size), size);
}

void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void **result, size_t alignment, size_t size) {
  if (alignment == 0 || alignment % sizeof(void *) != 0 || (alignment & (alignment - 1)) != 0) {
    return EINVAL;
  }
  void *block = memalign(alignment, size);
  if (block == NULL) { return ENOMEM; }
  *result = block;
  return 0;
}

// MARK: Processors

// A parallel composite gets as many helpers as there are processors to spare, and the thread pool a
// thread for each of them. With a number of our own the figures are those of every machine, and with
// one thread they do not depend on which thread comes first.
static _Atomic int64_t processors = 1;

void allocation_counter_set_processors(int64_t count) {
  atomic_store_explicit(&processors, count, memory_order_relaxed);
}

long sysconf(int name) {
  if (name == _SC_NPROCESSORS_ONLN || name == _SC_NPROCESSORS_CONF) {
    return (long)atomic_load_explicit(&processors, memory_order_relaxed);
  }
  return __sysconf(name);
}

// MARK: Time

// Whoever runs children lets others have the thread from time to time, which costs an allocation.
// By a clock that nobody moves, that does not depend on how busy the machine is. It does not begin
// at zero, because a machine that is on has been on for some time.
static _Atomic int64_t now = 1000000;

void allocation_counter_advance_clock(int64_t seconds) {
  atomic_fetch_add_explicit(&now, seconds, memory_order_relaxed);
}

int clock_gettime(clockid_t clock, struct timespec *time) {
  // The engine's own clock, and that behind `ContinuousClock`.
  if (clock != CLOCK_MONOTONIC && clock != CLOCK_BOOTTIME) {
    return (int)syscall(SYS_clock_gettime, clock, time);
  }
  *time = (struct timespec){.tv_sec = atomic_load_explicit(&now, memory_order_relaxed)};
  return 0;
}

#else

bool allocation_counter_is_available(void) { return false; }
struct AllocationTally allocation_counter_tally(void) { return (struct AllocationTally){0, 0}; }
void allocation_counter_set_processors(int64_t count) { (void)count; }
void allocation_counter_advance_clock(int64_t seconds) { (void)seconds; }

#endif
