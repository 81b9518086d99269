#define _GNU_SOURCE
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/syscall.h>
#include <time.h>
#endif

int file_rename_if_free(const char *path, const char *other) {
#if defined(__APPLE__)
  return renamex_np(path, other, RENAME_EXCL) ? errno : 0;
#elif defined(SYS_renameat2)
  // A system call, because not every C library has the function. 1 is RENAME_NOREPLACE.
  return syscall(SYS_renameat2, AT_FDCWD, path, AT_FDCWD, other, 1) ? errno : 0;
#else
  return ENOSYS;
#endif
}

int file_open_for_search(int folder, const char *path) {
#if defined(__linux__)
  return openat(folder, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
#else
  return openat(folder, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
#endif
}

ssize_t file_write_quietly(int descriptor, const void *bytes, size_t count) {
#if defined(__APPLE__)
  fcntl(descriptor, F_SETNOSIGPIPE, 1);
  return write(descriptor, bytes, count);
#else
  sigset_t pipe, before, pending;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  sigpending(&pending);
  // A signal that was already pending is not consumed.
  int was_pending = sigismember(&pending, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe, &before);
  ssize_t written = write(descriptor, bytes, count);
  int error = errno;
  if (written < 0 && error == EPIPE && !was_pending) {
    const struct timespec at_once = {0, 0};
    while (sigtimedwait(&pipe, NULL, &at_once) < 0 && errno == EINTR) continue;
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  errno = error;
  return written;
#endif
}

// Darwin has these commands since 10.11, and older headers do not name them.
#if defined(__APPLE__) && !defined(F_OFD_SETLK)
#define F_OFD_SETLK 90
#define F_OFD_GETLK 92
#endif

static struct flock byte_at(off_t offset, short type) {
  // `l_pid` has to be 0.
  struct flock lock = {0};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = offset;
  lock.l_len = 1;
  return lock;
}

int file_lock_byte(int descriptor, off_t offset, int is_locked) {
  // A lock for reading, which a descriptor can have that cannot write.
  struct flock lock = byte_at(offset, is_locked ? F_RDLCK : F_UNLCK);
  return fcntl(descriptor, F_OFD_SETLK, &lock) ? errno : 0;
}

int file_find_lock(int descriptor, off_t offset, int *is_found) {
  struct flock lock = byte_at(offset, F_WRLCK);
  if (fcntl(descriptor, F_OFD_GETLK, &lock)) return errno;
  *is_found = lock.l_type != F_UNLCK;
  return 0;
}
