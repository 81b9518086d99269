#define _GNU_SOURCE
#include "processes.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

/// The least size of a stack in bytes.
#define LEAST_STACK ((size_t)1 << 20)

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
