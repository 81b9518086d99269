#pragma once

#include <stdbool.h>
#include <stdint.h>

/// What a process has asked of the heap so far, on all its threads.
struct AllocationTally {
  /// How often it asked for memory. A change of size counts as a new block does.
  int64_t allocations;
  /// How many bytes it asked for.
  int64_t bytes;
};

/// Whether this build counts allocations: with glibc it does, and not under a sanitizer.
///
/// Where it does, the process also believes that it has one processor, and the clock of its tasks
/// stands still.
bool allocation_counter_is_available(void);

/// The allocations of this process so far.
struct AllocationTally allocation_counter_tally(void);

/// Says from now on that there are so many processors. The thread pool keeps its one thread.
void allocation_counter_set_processors(int64_t count);

/// Moves the clock of tasks on, which moves in no other way.
void allocation_counter_advance_clock(int64_t seconds);
