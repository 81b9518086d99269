#define _GNU_SOURCE
#include "processes.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

uint64_t process_descriptor_limit(void) {
  struct rlimit limit;
  return getrlimit(RLIMIT_NOFILE, &limit) ? UINT64_MAX : limit.rlim_cur;
}

int process_lift(int *descriptor) {
  if (*descriptor > STDERR_FILENO) return 0;
  int lifted = fcntl(*descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  int error = lifted < 0 ? errno : 0;
  close(*descriptor);
  *descriptor = lifted;
  return error;
}

static int open_pipe(int ends[2]) {
#if defined(__APPLE__)
  if (pipe(ends)) return errno;
  for (int index = 0; index < 2; index++) fcntl(ends[index], F_SETFD, FD_CLOEXEC);
  return 0;
#else
  return pipe2(ends, O_CLOEXEC) ? errno : 0;
#endif
}

int process_pipe(int ends[2], enum process_own_end own) {
  int error = open_pipe(ends);
  if (error) return error;
  error = process_lift(&ends[0]);
  int second = process_lift(&ends[1]);
  if (!error) error = second;
  if (!error && own != process_own_none &&
      fcntl(ends[own == process_own_reader ? 0 : 1], F_SETFL, O_NONBLOCK))
    error = errno;
  if (error)
    for (int index = 0; index < 2; index++)
      if (ends[index] >= 0) close(ends[index]);
  return error;
}

/// Returns ENXIO if a named pipe has no writer and no content. Does not consume any content.
static int check_writer(int fifo) {
#if defined(__linux__)
  int ends[2];
  int error = open_pipe(ends);
  if (error) return error;
  bool is_at_end = tee(fifo, ends[1], 1, SPLICE_F_NONBLOCK) == 0;
  close(ends[0]);
  close(ends[1]);
  return is_at_end ? ENXIO : 0;
#else
  (void)fifo;
  return 0;
#endif
}

static int check_readable(int descriptor) {
  struct stat status;
  if (fstat(descriptor, &status)) return errno;
  if (S_ISDIR(status.st_mode)) return EISDIR;
  return S_ISFIFO(status.st_mode) ? check_writer(descriptor) : 0;
}

int process_open(const char *path, enum process_access access, int *descriptor) {
  int flags = O_RDONLY;
  switch (access) {
  case process_access_read: break;
  case process_access_replace: flags = O_WRONLY | O_CREAT | O_TRUNC | O_APPEND; break;
  case process_access_append: flags = O_WRONLY | O_CREAT | O_APPEND; break;
  }
  // Does not wait for the other end of a named pipe.
  int opened;
  do opened = open(path, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0666);
  while (opened < 0 && errno == EINTR);
  if (opened < 0) return errno;
  int error = process_lift(&opened);
  if (error) return error;
  if (access == process_access_read) error = check_readable(opened);
  if (error) {
    close(opened);
    return error;
  }
  // Programs expect a blocking descriptor.
  int status = fcntl(opened, F_GETFL);
  if (status >= 0) fcntl(opened, F_SETFL, status & ~O_NONBLOCK);
  *descriptor = opened;
  return 0;
}

void process_watch_close(int watch, int waker) {
  close(watch);
  if (waker >= 0) close(waker);
}
