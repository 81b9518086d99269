// What the operations on files need of the system and Swift cannot call everywhere.
#ifndef COMPOSITE_OPERATIONS_FILES_H
#define COMPOSITE_OPERATIONS_FILES_H

#include <stddef.h>
#include <sys/types.h>

/// Gives a file another name unless there is something of that name. Returns 0 or the `errno` of the failure:
/// EINVAL, ENOSYS or ENOTSUP also where the system or the file system has no such call.
int file_rename_if_free(const char *path, const char *other);

/// Like `write`, but where nobody is left to read a pipe that is an EPIPE, and no signal that ends the process.
ssize_t file_write_quietly(int descriptor, const void *bytes, size_t count);

#endif
