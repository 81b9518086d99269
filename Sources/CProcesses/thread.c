#define _GNU_SOURCE
#include "processes.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

struct start {
  void (*body)(void *);
  void *context;
  /// With the room that the system has; empty for none.
#if defined(__APPLE__)
  char name[64];
#else
  char name[16];
#endif
};

static void *run(void *argument) {
  struct start start = *(struct start *)argument;
  free(argument);
  // Names are for debuggers: where the system takes none, nothing else is lost.
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
  pthread_t thread;
  int error = pthread_create(&thread, NULL, run, start);
  if (error) free(start);
  else pthread_detach(thread);
  return error;
}

int process_start_thread(void (*body)(void *), void *context) {
  // The thread begins with the mask of the one that makes it. None of the program's handlers runs on it, and
  // writing to a pipe that nobody reads is an error there and no signal.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int error = process_start_named_thread("", body, context);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return error;
}
