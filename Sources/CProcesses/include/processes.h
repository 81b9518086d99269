// What the operations on processes need of the system and Swift cannot say well. Functions that can fail return
// 0 or the `errno` of the failure, unless they say otherwise. None keeps the calling thread waiting, except that
// `process_spawn` returns when the program has been loaded.
#ifndef COMPOSITE_OPERATIONS_PROCESSES_H
#define COMPOSITE_OPERATIONS_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// MARK: Beginning

enum {
  /// Nothing to read, or nowhere to write to: /dev/null.
  process_stream_null = -1,
  /// The one of this process.
  process_stream_inherited = -2,
  /// For standard error: where standard output goes.
  process_stream_as_output = -3,
};

struct process_plan {
  /// The path of the program's file.
  const char *program;
  /// The arguments one behind another, each with a zero byte behind it. The first is the name of the program.
  const char *arguments;
  size_t argument_count;
  /// The variables in the same way, each as NAME=VALUE; NULL for those of this process.
  const char *variables;
  size_t variable_count;
  /// The working folder; NULL for that of this process.
  const char *folder;
  /// Descriptors or the constants above.
  int input, output, error;
};

/// Begins a program as the leader of a process group of its own. It inherits the three standard streams and no
/// other descriptor, blocks no signal and ignores none.
int process_spawn(const struct process_plan *plan, pid_t *process);

/// The variables of this process, which end with NULL.
char *const *process_variables(void);

// MARK: Ending

struct process_end {
  /// The exit status, or the number of the signal.
  int code;
  bool by_signal;
};

/// Whether a process has ended and its status can be taken, or somebody else has taken it. A process that is traced
/// has not, as long as its tracer has not heard of its end.
bool process_has_ended(pid_t process);

/// Takes the status of a process that has ended, so that the system forgets it.
int process_reap(pid_t process, struct process_end *end);

/// Whether process groups have a member that has not ended, other than a leader that has. Not where nobody can tell.
///
/// `leaders` ascend; what is true of each is written to the same place of `living`.
void process_look_at_groups(const pid_t *leaders, bool *living, size_t count);

// MARK: Descriptors

/// Moves a descriptor out of the places of the standard streams, which are free where somebody closed them. Where
/// that cannot be done, the descriptor is closed.
int process_lift(int *descriptor);

/// Makes a pipe that no other program inherits. The end that this process keeps does not block.
///
/// `keeps_reader` says which one that is; `ends` has the reader first.
int process_pipe(int ends[2], bool keeps_reader);

/// Opens a file to read it, or to empty it and write it, or to write behind its end. What several write at the same
/// time comes one behind the other.
///
/// A folder cannot be read, and neither can a named pipe that nobody writes to: whoever reads it would find an end.
enum process_access { process_access_read, process_access_replace, process_access_append };
int process_open(const char *path, enum process_access access, int *descriptor);

// MARK: Watching

enum process_interest {
  process_interest_readable,
  process_interest_writable,
  /// The end of a process.
  process_interest_end,
};

/// Makes what waits for descriptors and processes, and can be woken.
int process_watch_open(int *watch, int *waker);
void process_watch_close(int watch, int waker);

/// Begins to watch a descriptor, or a process, until `process_watch_remove`.
///
/// For a process it makes a descriptor, which the caller closes; it is -1 where the system has no need of one, and
/// where the process cannot be watched.
int process_watch_add(int watch, int descriptor, enum process_interest interest, uint64_t token);
int process_watch_add_end(int watch, pid_t process, uint64_t token, int *descriptor);
void process_watch_remove(int watch, int descriptor, enum process_interest interest);

/// Has `process_watch_wait` return, now or the next time.
void process_watch_wake(int watch, int waker);

/// Waits until something watched is ready, until it is woken, or for so many milliseconds; -1 for ever.
///
/// Returns how many tokens it has written, or the negative `errno` of a failure.
int process_watch_wait(
  int watch, int waker, uint64_t *tokens, int capacity, int milliseconds);

/// Runs a function on a thread of its own that takes no signals.
int process_start_thread(void (*body)(void *), void *context);

/// Runs a function on a thread of its own that has a name, cut to what the system has room for, and takes signals
/// as the calling one does.
int process_start_named_thread(const char *name, void (*body)(void *), void *context);

#endif
