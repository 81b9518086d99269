#define _GNU_SOURCE
#include "processes.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

/// The least size of a stack in bytes.
#define LEAST_STACK ((size_t)1 << 20)

/// How much of a stack counts at most, in bytes.
#define COUNTED_STACK ((size_t)512 << 10)

struct start {
  void (*body)(void *);
  void *context;
  /// The name, in the maximum size of the system; empty for none.
#if defined(__APPLE__)
  char name[64];
#else
  char name[16];
#endif
};

static void *run(void *argument) {
  struct start start = *(struct start *)argument;
  free(argument);
  // Names are for debuggers, so a failure to set one is ignored.
#if defined(__APPLE__)
  if (*start.name) pthread_setname_np(start.name);
#else
  if (*start.name) pthread_setname_np(pthread_self(), start.name);
#endif
  start.body(start.context);
  return NULL;
}

int process_start_named_thread(const char *name, void (*body)(void *), void *context) {
  struct start *start = malloc(sizeof *start);
  if (!start) return ENOMEM;
  *start = (struct start){body, context};
  snprintf(start->name, sizeof start->name, "%s", name);
  pthread_attr_t attributes;
  int error = pthread_attr_init(&attributes);
  if (error) {
    free(start);
    return error;
  }
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  // The default of some systems is too small for the cancellation handlers of deep compositions.
  size_t stack = 0;
  pthread_attr_getstacksize(&attributes, &stack);
  if (stack < LEAST_STACK) pthread_attr_setstacksize(&attributes, LEAST_STACK);
  pthread_t thread;
  error = pthread_create(&thread, &attributes, run, start);
  if (error) free(start);
  pthread_attr_destroy(&attributes);
  return error;
}

int process_start_thread(void (*body)(void *), void *context) {
  // The new thread inherits the signal mask of the thread that creates it. Signal handlers of the
  // program do not run on it, and writing to a pipe without a reader is an error there and not a
  // signal.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int error = process_start_named_thread("", body, context);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return error;
}

/// The bounds of the stack of the calling thread; 0 before the lookup, and 1 if it has failed.
static _Thread_local uintptr_t stack_start, stack_end;

static __attribute__((noinline)) void find_stack(void) {
  stack_start = stack_end = 1;
  void *start = NULL;
  size_t size = 0;
#if defined(__APPLE__)
  size = pthread_get_stacksize_np(pthread_self());
  start = (char *)pthread_get_stackaddr_np(pthread_self()) - size;
#else
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes)) return;
  int error = pthread_attr_getstack(&attributes, &start, &size);
  pthread_attr_destroy(&attributes);
  if (error) return;
#endif
  stack_start = (uintptr_t)start;
  stack_end = stack_start + size;
}

int process_stack_quarters(void) {
  if (!stack_end) find_stack();
  // Not the address of a variable, which a sanitizer may store elsewhere.
  uintptr_t now = (uintptr_t)__builtin_frame_address(0);
  if (now < stack_start || now >= stack_end) return -1;
  size_t size = stack_end - stack_start, used = stack_end - now;
  if (size > COUNTED_STACK) size = COUNTED_STACK;
  return used < size ? (int)(used / (size / 4)) : 4;
}
