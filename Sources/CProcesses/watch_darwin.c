// Never run: the package is built and tested only on Linux.
#if defined(__APPLE__)
#include "processes.h"

#include <errno.h>
#include <fcntl.h>
#include <libproc.h>
#include <sys/event.h>
#include <sys/proc_info.h>
#include <time.h>
#include <unistd.h>

static const uintptr_t waker_identifier = UINTPTR_MAX;

static int change(
  int watch, uintptr_t identifier, int16_t filter, uint16_t flags, uint32_t notes, uint64_t token) {
  struct kevent event;
  EV_SET(&event, identifier, filter, flags, notes, 0, (void *)(uintptr_t)token);
  return kevent(watch, &event, 1, NULL, 0, NULL) ? errno : 0;
}

static int16_t filter_of(enum process_interest interest) {
  switch (interest) {
  case process_interest_readable: return EVFILT_READ;
  case process_interest_writable: return EVFILT_WRITE;
  case process_interest_end: return EVFILT_PROC;
  }
}

int process_watch_open(int *watch, int *waker) {
  *waker = -1;
  *watch = kqueue();
  if (*watch < 0) return errno;
  fcntl(*watch, F_SETFD, FD_CLOEXEC);
  int error = change(*watch, waker_identifier, EVFILT_USER, EV_ADD | EV_CLEAR, 0, 0);
  if (error) close(*watch);
  return error;
}

int process_watch_add(int watch, int descriptor, enum process_interest interest, uint64_t token) {
  return change(watch, (uintptr_t)descriptor, filter_of(interest), EV_ADD, 0, token);
}

int process_watch_add_end(int watch, pid_t process, uint64_t token, int *descriptor) {
  *descriptor = -1;
  return change(watch, (uintptr_t)process, EVFILT_PROC, EV_ADD | EV_ONESHOT, NOTE_EXIT, token);
}

void process_watch_remove(int watch, int descriptor, enum process_interest interest) {
  if (descriptor >= 0)
    change(watch, (uintptr_t)descriptor, filter_of(interest), EV_DELETE, 0, 0);
}

void process_watch_wake(int watch, int waker) {
  (void)waker;
  change(watch, waker_identifier, EVFILT_USER, 0, NOTE_TRIGGER, 0);
}

int process_watch_wait(
  int watch, int waker, uint64_t *tokens, int capacity, int milliseconds) {
  (void)waker;
  struct kevent events[64];
  if (capacity > 64) capacity = 64;
  struct timespec time = {milliseconds / 1000, (milliseconds % 1000) * 1000000L};
  int count = kevent(watch, NULL, 0, events, capacity, milliseconds < 0 ? NULL : &time);
  if (count < 0) return errno == EINTR ? 0 : -errno;
  int written = 0;
  for (int index = 0; index < count; index++)
    if (events[index].filter != EVFILT_USER) tokens[written++] = (uintptr_t)events[index].udata;
  return written;
}

static bool group_lives(pid_t leader) {
  pid_t members[256];
  int size = proc_listpgrppids(leader, members, sizeof members);
  for (int index = 0; index < size && index < 256; index++) {
    struct proc_bsdinfo info;
    if (members[index] == leader) continue;
    if (proc_pidinfo(members[index], PROC_PIDTBSDINFO, 0, &info, sizeof info) == sizeof info
        && info.pbi_status != 5 /* SZOMB */)
      return true;
  }
  return false;
}

void process_check_groups(const pid_t *leaders, bool *are_running, size_t count) {
  for (size_t index = 0; index < count; index++) are_running[index] = group_lives(leaders[index]);
}

int process_read_entry(pid_t process, struct process_entry *entry) {
  (void)process;
  (void)entry;
  return ENOTSUP;
}

int64_t process_now(void) { return 0; }

size_t process_list(struct process_entry *entries, size_t capacity) {
  (void)entries;
  (void)capacity;
  return 0;
}

int process_adopt(int adopts) { return ENOTSUP; }
#endif
