// System functions for file operations that Swift cannot call on all platforms.
#ifndef COMPOSITE_OPERATIONS_FILES_H
#define COMPOSITE_OPERATIONS_FILES_H

#include <stddef.h>
#include <sys/types.h>

/// Renames a file unless the new name exists. Returns 0 or the `errno` of the failure: EINVAL,
/// ENOSYS or ENOTSUP if the system or the file system does not support it.
int file_rename_if_free(const char *path, const char *other);

/// Opens a folder to search it for names, which on Linux does not need the permission to read it.
/// Returns -1 and sets `errno` if it fails.
int file_open_for_search(int folder, const char *path);

/// Writes like `write`, but a pipe without a reader is an EPIPE, and not a signal that terminates
/// the process.
ssize_t file_write_quietly(int descriptor, const void *bytes, size_t count);

/// Locks or unlocks one byte of a file, without waiting. The lock belongs to the open file behind the
/// descriptor, and not to the process: it ends when no descriptor of it is left, also after SIGKILL, and not
/// when another descriptor of the same file is closed. Other open files may share the lock.
///
/// Returns 0 or the `errno` of the failure: EINVAL, ENOTSUP or ENOLCK if the system or the file system does
/// not support it.
int file_lock_byte(int descriptor, off_t offset, int is_locked);

/// Finds out whether another open file has a lock of one byte. Needs no permission to write. Returns 0 or the
/// `errno` of the failure.
int file_find_lock(int descriptor, off_t offset, int *is_found);

#endif
