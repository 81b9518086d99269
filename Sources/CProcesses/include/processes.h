// System functions for processes that Swift cannot express well. Functions that can fail return 0
// or the `errno` of the failure, unless documented otherwise. None blocks the calling thread,
// except that `process_spawn` returns when the program has been loaded.
#ifndef COMPOSITE_OPERATIONS_PROCESSES_H
#define COMPOSITE_OPERATIONS_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// MARK: Starting

enum {
  /// No input or output: /dev/null.
  process_stream_null = -1,
  /// The stream of this process.
  process_stream_inherited = -2,
  /// For standard error: the destination of standard output.
  process_stream_as_output = -3,
};

/// Where a program runs: as the leader of a new process group; as the leader of a new session, which
/// has no terminal; or in the group of this process.
enum process_place { process_place_group, process_place_session, process_place_own_group };

struct process_plan {
  /// The path of the executable file.
  const char *program;
  /// The arguments, each terminated by a zero byte. The first is the name of the program.
  const char *arguments;
  size_t argument_count;
  /// The environment variables in the same format, each as NAME=VALUE; NULL to inherit the
  /// variables of this process.
  const char *variables;
  size_t variable_count;
  /// The working folder; NULL for the working folder of this process.
  const char *folder;
  /// Descriptors, or the constants above.
  int input, output, error;
  enum process_place place;
};

/// Starts a program, by default as the leader of a new process group. It inherits the three standard streams
/// and no other descriptor, and neither blocks nor ignores any signal.
int process_spawn(const struct process_plan *plan, pid_t *process);

/// The environment of this process, terminated by NULL.
char *const *process_variables(void);

// MARK: Ending

struct process_end {
  /// The exit status, or the number of the signal.
  int code;
  bool by_signal;
};

/// Returns whether a process has ended and its status can be collected, or has already been
/// collected. A traced process counts as running until its tracer has been notified of its end.
bool process_has_ended(pid_t process);

/// Collects the status of a process that has ended, so that the system releases it.
int process_reap(pid_t process, struct process_end *end);

/// Determines which process groups have a running member; a leader that has ended does not count.
/// The result is false if it cannot be determined.
///
/// `leaders` are sorted in ascending order. The result for each is written to the same index of
/// `are_running`.
void process_check_groups(const pid_t *leaders, bool *are_running, size_t count);

/// Returns a child that has ended and whose status has not been collected; 0 if there is none.
pid_t process_ended_child(void);

// MARK: Other processes

/// Makes this process the parent of all descendants whose parent has ended. Linux only: ENOTSUP.
int process_adopt(int adopts);

struct process_entry {
  pid_t process, parent, group, session;
  /// When it began, in clock ticks since the system was booted.
  int64_t began;
  /// Whether it has ended, and its parent has not collected its status.
  bool has_ended;
};

/// Reads the entry of a process. Linux only: ENOTSUP.
int process_read_entry(pid_t process, struct process_entry *entry);

/// The present time, as in an entry; 0 if entries have no time.
int64_t process_now(void);

/// Writes the entries of all processes, up to a number, and returns how many there are; 0 if the
/// system does not list them.
size_t process_list(struct process_entry *entries, size_t capacity);

/// Stops this process as SIGTSTP does by default. Returns when the process continues.
void process_suspend(void);

// MARK: Descriptors

/// Returns how many descriptors this process may have.
uint64_t process_descriptor_limit(void);

/// Moves a descriptor out of the numbers of the standard streams, which are free if they were
/// closed. On failure the descriptor is closed.
int process_lift(int *descriptor);

/// Creates a pipe that other programs do not inherit. The end that this process uses is
/// non-blocking. `ends` contains the reader first.
enum process_own_end { process_own_reader, process_own_writer, process_own_none };
int process_pipe(int ends[2], enum process_own_end own);

/// Opens a file to read it, to replace its contents, or to append to it. Concurrent appends do not
/// overwrite each other.
///
/// Folders cannot be read, and neither can named pipes without a writer, because reading them would
/// return an end.
enum process_access { process_access_read, process_access_replace, process_access_append };
int process_open(const char *path, enum process_access access, int *descriptor);

// MARK: Watching

enum process_interest {
  process_interest_readable,
  process_interest_writable,
  /// The end of a process.
  process_interest_end,
};

/// Creates a watch on descriptors and processes, which can be woken.
int process_watch_open(int *watch, int *waker);
void process_watch_close(int watch, int waker);

/// Watches a descriptor, or a process, until `process_watch_remove`.
///
/// For a process this opens a descriptor, which the caller must close. It is -1 if the system needs
/// none, or if the process cannot be watched.
int process_watch_add(int watch, int descriptor, enum process_interest interest, uint64_t token);
int process_watch_add_end(int watch, pid_t process, uint64_t token, int *descriptor);
void process_watch_remove(int watch, int descriptor, enum process_interest interest);

/// Makes `process_watch_wait` return, now or at its next call.
void process_watch_wake(int watch, int waker);

/// Waits until a watched descriptor or process is ready, until the watch is woken, or for a number
/// of milliseconds; -1 waits forever.
///
/// Returns the number of tokens written, or the negative `errno` of a failure.
int process_watch_wait(
  int watch, int waker, uint64_t *tokens, int capacity, int milliseconds);

/// Runs a function on a new thread that receives no signals.
int process_start_thread(void (*body)(void *), void *context);

/// Runs a function on a new thread with a name, cut to the maximum length of the system. The thread
/// inherits the signal mask of the calling thread.
int process_start_named_thread(const char *name, void (*body)(void *), void *context);

/// Returns how many whole quarters of its stack the calling thread uses, from 0 to 4. Of a stack
/// larger than 512 KiB, only the first 512 KiB count, and more than these is 4. Returns -1 if the
/// system does not report the stack, or if the code runs on another one, such as that of a fiber.
int process_stack_quarters(void);

#endif
