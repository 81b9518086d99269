#include "processes.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

struct start {
  void (*body)(void *);
  void *context;
};

static void *run(void *argument) {
  struct start start = *(struct start *)argument;
  free(argument);
  start.body(start.context);
  return NULL;
}

int process_start_thread(void (*body)(void *), void *context) {
  struct start *start = malloc(sizeof *start);
  if (!start) return ENOMEM;
  *start = (struct start){body, context};
  // The thread begins with the mask of the one that makes it. None of the program's handlers runs on it, and
  // writing to a pipe that nobody reads is an error there and no signal.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  int error = pthread_create(&thread, NULL, run, start);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (error) free(start);
  else pthread_detach(thread);
  return error;
}
