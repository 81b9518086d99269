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
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
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
  if (!error) error = process_lift(watch);
  if (!error) error = process_lift(waker);
  if (!error) error = add(*watch, *waker, EPOLLIN, waker_token);
  if (error) {
    if (*waker >= 0) close(*waker);
    if (*watch >= 0) close(*watch);
  }
  return error;
}

int process_watch_add(int watch, int descriptor, enum process_interest interest, uint64_t token) {
  return add(watch, descriptor, interest == process_interest_writable ? EPOLLOUT : EPOLLIN, token);
}

int process_watch_add_end(int watch, pid_t process, uint64_t token, int *descriptor) {
  *descriptor = (int)syscall(SYS_pidfd_open, process, 0);
  if (*descriptor < 0) return errno;
  int error = process_lift(descriptor);
  if (error) return error;
  error = add(watch, *descriptor, EPOLLIN, token);
  if (error) {
    close(*descriptor);
    *descriptor = -1;
  }
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
  if (count < 0) return errno == EINTR ? 0 : -errno;
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

/// Reads the line of a process in /proc.
static int read_entry(int folder, const char *process, struct process_entry *entry) {
  char path[32], line[512];
  if (snprintf(path, sizeof path, "%s/stat", process) >= (int)sizeof path) return ENAMETOOLONG;
  int file = openat(folder, path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return errno;
  ssize_t length = read(file, line, sizeof line - 1);
  int error = length < 0 ? errno : 0;
  close(file);
  if (length <= 0) return error ? error : ESRCH;
  line[length] = 0;
  // The name is in parentheses and may contain parentheses.
  const char *rest = strrchr(line, ')');
  char state;
  long long began;
  // After the state and the fields of the entry: 15 numbers between the session and the start.
  if (!rest
      || sscanf(
           rest + 1,
           " %c %d %d %d %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %lld", &state,
           &entry->parent, &entry->group, &entry->session, &began) != 5)
    return EINVAL;
  const char *slash = strrchr(process, '/');
  entry->process = (pid_t)atoi(slash ? slash + 1 : process);
  entry->began = began;
  entry->has_ended = state == 'Z' || state == 'X';
  return 0;
}

/// Reads the entry of the next process that still exists.
static bool next_entry(DIR *folder, struct process_entry *entry) {
  for (struct dirent *name; (name = readdir(folder));)
    if (isdigit((unsigned char)name->d_name[0])
        && !read_entry(dirfd(folder), name->d_name, entry))
      return true;
  return false;
}

int process_read_entry(pid_t process, struct process_entry *entry) {
  char path[32];
  snprintf(path, sizeof path, "/proc/%d", process);
  return read_entry(AT_FDCWD, path, entry);
}

int64_t process_now(void) {
  struct timespec time;
  clock_gettime(CLOCK_BOOTTIME, &time);
  long ticks = sysconf(_SC_CLK_TCK);
  return time.tv_sec * ticks + time.tv_nsec / (1000000000 / ticks);
}

size_t process_list(struct process_entry *entries, size_t capacity) {
  DIR *folder = opendir("/proc");
  if (!folder) return 0;
  size_t count = 0;
  for (struct process_entry entry; next_entry(folder, &entry); count++)
    if (count < capacity) entries[count] = entry;
  closedir(folder);
  return count;
}

int process_adopt(int adopts) { return prctl(PR_SET_CHILD_SUBREAPER, adopts, 0, 0, 0) ? errno : 0; }

static int compare(const void *first, const void *second) {
  pid_t left = *(const pid_t *)first, right = *(const pid_t *)second;
  return (left > right) - (left < right);
}

void process_check_groups(const pid_t *leaders, bool *are_running, size_t count) {
  for (size_t index = 0; index < count; index++) are_running[index] = false;
  DIR *folder = opendir("/proc");
  if (!folder) return;
  for (struct process_entry entry; next_entry(folder, &entry);) {
    if (entry.has_ended) continue;
    const pid_t *found = bsearch(&entry.group, leaders, count, sizeof entry.group, compare);
    if (found) are_running[found - leaders] = true;
  }
  closedir(folder);
}
#endif
