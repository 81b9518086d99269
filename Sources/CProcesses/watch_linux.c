#if defined(__linux__)
#define _GNU_SOURCE
#include "processes.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

static const uint64_t waker_token = UINT64_MAX;

static int add(int watch, int descriptor, uint32_t events, uint64_t token) {
  struct epoll_event event = {.events = events, .data.u64 = token};
  return epoll_ctl(watch, EPOLL_CTL_ADD, descriptor, &event) ? errno : 0;
}

int process_watch_open(int *watch, int *waker) {
  int error = 0;
  *watch = epoll_create1(EPOLL_CLOEXEC);
  if (*watch < 0) return errno;
  *waker = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (*waker < 0) error = errno;
  if (!error) error = add(*watch, *waker, EPOLLIN, waker_token);
  if (error) {
    if (*waker >= 0) close(*waker);
    close(*watch);
  }
  return error;
}

int process_watch_add(int watch, int descriptor, enum process_interest interest, uint64_t token) {
  return add(watch, descriptor, interest == process_interest_writable ? EPOLLOUT : EPOLLIN, token);
}

int process_watch_add_end(int watch, pid_t process, uint64_t token, int *descriptor) {
  *descriptor = (int)syscall(SYS_pidfd_open, process, 0);
  if (*descriptor < 0) return errno;
  int error = add(watch, *descriptor, EPOLLIN, token);
  if (error) close(*descriptor);
  return error;
}

void process_watch_remove(int watch, int descriptor, enum process_interest interest) {
  (void)interest;
  epoll_ctl(watch, EPOLL_CTL_DEL, descriptor, NULL);
}

void process_watch_wake(int watch, int waker) {
  (void)watch;
  uint64_t one = 1;
  while (write(waker, &one, sizeof one) < 0 && errno == EINTR) {}
}

int process_watch_wait(
  int watch, int waker, uint64_t *tokens, int capacity, int milliseconds) {
  struct epoll_event events[64];
  if (capacity > 64) capacity = 64;
  int count = epoll_wait(watch, events, capacity, milliseconds);
  int written = 0;
  for (int index = 0; index < count; index++) {
    if (events[index].data.u64 == waker_token) {
      uint64_t sum;
      while (read(waker, &sum, sizeof sum) < 0 && errno == EINTR) {}
    } else {
      tokens[written++] = events[index].data.u64;
    }
  }
  return written;
}

/// Whether a process has not ended and is of a group, by its line in /proc.
static bool lives(int folder, const char *process, pid_t group) {
  char path[32], line[512];
  if (snprintf(path, sizeof path, "%s/stat", process) >= (int)sizeof path) return false;
  int file = openat(folder, path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  ssize_t length = read(file, line, sizeof line - 1);
  close(file);
  if (length <= 0) return false;
  line[length] = 0;
  // The name stands in parentheses and may hold some itself.
  const char *rest = strrchr(line, ')');
  char state;
  int parent, found;
  if (!rest || sscanf(rest + 1, " %c %d %d", &state, &parent, &found) != 3) return false;
  return found == group && state != 'Z' && state != 'X';
}

bool process_group_lives(pid_t leader) {
  DIR *folder = opendir("/proc");
  if (!folder) return false;
  bool found = false;
  for (struct dirent *entry; !found && (entry = readdir(folder));)
    found = isdigit((unsigned char)entry->d_name[0]) && lives(dirfd(folder), entry->d_name, leader);
  closedir(folder);
  return found;
}
#endif
