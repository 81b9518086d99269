#define _GNU_SOURCE
#include "processes.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>

void process_suspend(void) {
  struct sigaction by_default, handler;
  memset(&by_default, 0, sizeof by_default);
  by_default.sa_handler = SIG_DFL;
  sigset_t suspending, mask;
  sigemptyset(&suspending);
  sigaddset(&suspending, SIGTSTP);
  if (sigaction(SIGTSTP, &by_default, &handler)) return;
  pthread_sigmask(SIG_UNBLOCK, &suspending, &mask);
  // To this thread, so that it does not continue before the process is stopped.
  raise(SIGTSTP);
  pthread_sigmask(SIG_SETMASK, &mask, NULL);
  sigaction(SIGTSTP, &handler, NULL);
}
