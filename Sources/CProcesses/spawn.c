#define _GNU_SOURCE
#include "processes.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__APPLE__)
#include <crt_externs.h>
#else
extern char **environ;
#endif

char *const *process_variables(void) {
#if defined(__APPLE__)
  return *_NSGetEnviron();
#else
  return environ;
#endif
}

/// Returns the addresses of consecutive texts, terminated by NULL.
static char **addresses(const char *texts, size_t count) {
  char **list = malloc((count + 1) * sizeof *list);
  if (!list) return NULL;
  for (size_t index = 0; index < count; index++) {
    list[index] = (char *)texts;
    texts += strlen(texts) + 1;
  }
  list[count] = NULL;
  return list;
}

static int add_stream(
  posix_spawn_file_actions_t *actions, int descriptor, int target, int null_flags) {
  switch (descriptor) {
  case process_stream_null:
    return posix_spawn_file_actions_addopen(actions, target, "/dev/null", null_flags, 0);
  case process_stream_inherited:
#if defined(__APPLE__)
    return posix_spawn_file_actions_addinherit_np(actions, target);
#else
    return 0;
#endif
  case process_stream_as_output:
    return posix_spawn_file_actions_adddup2(actions, STDOUT_FILENO, target);
  default:
    return posix_spawn_file_actions_adddup2(actions, descriptor, target);
  }
}

static int add_actions(posix_spawn_file_actions_t *actions, const struct process_plan *plan) {
  int error = add_stream(actions, plan->input, STDIN_FILENO, O_RDONLY);
  if (!error) error = add_stream(actions, plan->output, STDOUT_FILENO, O_WRONLY);
  if (!error) error = add_stream(actions, plan->error, STDERR_FILENO, O_WRONLY);
  if (!error && plan->folder)
    error = posix_spawn_file_actions_addchdir_np(actions, plan->folder);
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 34)
  // Other code may have opened descriptors without close-on-exec.
  if (!error) error = posix_spawn_file_actions_addclosefrom_np(actions, STDERR_FILENO + 1);
#endif
  return error;
}

static int set_attributes(posix_spawnattr_t *attributes, enum process_place place) {
  short flags = POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK;
  if (place == process_place_group) flags |= POSIX_SPAWN_SETPGROUP;
  if (place == process_place_session) flags |= POSIX_SPAWN_SETSID;
#if defined(__APPLE__)
  flags |= POSIX_SPAWN_CLOEXEC_DEFAULT;
#endif
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  int error = posix_spawnattr_setflags(attributes, flags);
  if (!error) error = posix_spawnattr_setpgroup(attributes, 0);
  if (!error) error = posix_spawnattr_setsigmask(attributes, &none);
  if (!error) error = posix_spawnattr_setsigdefault(attributes, &all);
  return error;
}

int process_spawn(const struct process_plan *plan, pid_t *process) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  int error = posix_spawn_file_actions_init(&actions);
  if (error) return error;
  error = posix_spawnattr_init(&attributes);
  if (error) {
    posix_spawn_file_actions_destroy(&actions);
    return error;
  }
  char **arguments = addresses(plan->arguments, plan->argument_count);
  char **variables = plan->variables ? addresses(plan->variables, plan->variable_count) : NULL;
  if (!arguments || (plan->variables && !variables)) error = ENOMEM;
  if (!error) error = add_actions(&actions, plan);
  if (!error) error = set_attributes(&attributes, plan->place);
  if (!error)
    error = posix_spawn(
      process, plan->program, &actions, &attributes, arguments,
      variables ? variables : (char **)process_variables());
  free(variables);
  free(arguments);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

bool process_has_ended(pid_t process) {
  siginfo_t info = {0};
  int error;
  do error = waitid(P_PID, (id_t)process, &info, WEXITED | WNOHANG | WNOWAIT);
  while (error && errno == EINTR);
  return error || info.si_pid == process;
}

pid_t process_ended_child(void) {
  siginfo_t info = {0};
  int error;
  do error = waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT);
  while (error && errno == EINTR);
  return error ? 0 : info.si_pid;
}

int process_reap(pid_t process, struct process_end *end) {
  int status;
  pid_t ended;
  do ended = waitpid(process, &status, WNOHANG);
  while (ended < 0 && errno == EINTR);
  if (ended < 0) return errno;
  if (ended == 0) return EAGAIN;
  end->by_signal = WIFSIGNALED(status);
  end->code = end->by_signal ? WTERMSIG(status) : WEXITSTATUS(status);
  return 0;
}
