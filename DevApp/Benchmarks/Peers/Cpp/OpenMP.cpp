// The measured work in OpenMP, as the compiler's own runtime does it: tasks and a parallel loop.
#include <omp.h>

#include <array>
#include <cstdint>

#include "peer.hpp"

using peer::busySteps;
using peer::Run;
using peer::Slots;
using peer::work;

namespace {

template <int steps>
std::uint64_t tasks(std::size_t count) {
  Slots slots(count);
#pragma omp parallel
#pragma omp single
  for (std::size_t i = 0; i < count; ++i) {
#pragma omp task shared(slots)
    slots[i] = work(i, steps);
  }
  return peer::sum(slots);
}

template <int steps>
Run dynamicLoop(std::size_t count) {
  return [functions = peer::makeFunctions<steps>(count), count] {
#pragma omp parallel for schedule(dynamic, 1)
    for (std::size_t i = 0; i < count; ++i) functions->list[i]();
    return peer::sum(functions->slots);
  };
}

std::uint64_t dependentTasks(std::size_t count) {
  std::uint64_t total = 0;
#pragma omp parallel
#pragma omp single
  for (std::size_t i = 0; i < count; ++i) {
#pragma omp task shared(total) depend(inout : total)
    total += work(i, 0);
  }
  return total;
}

std::uint64_t nestedTasks(std::size_t count) {
  const std::size_t side = peer::sideOfSquare(count);
  Slots slots(side * side);
#pragma omp parallel
#pragma omp single
  for (std::size_t first = 0; first < side * side; first += side) {
#pragma omp task shared(slots)
    {
      for (std::size_t i = first; i < first + side; ++i) {
#pragma omp task shared(slots)
        slots[i] = work(i, 0);
      }
#pragma omp taskwait
    }
  }
  return peer::sum(slots);
}

template <std::size_t size>
std::uint64_t tasksInTurn(std::size_t count) {
  std::uint64_t total = 0;
#pragma omp parallel
#pragma omp single
  for (std::size_t first = 0; first + size <= count; first += size) {
    std::array<std::uint64_t, size> results;
    for (std::size_t i = 0; i < size; ++i) {
#pragma omp task shared(results)
      results[i] = work(first + i, 0);
    }
#pragma omp taskwait
    total += peer::sum(results);
  }
  return total;
}

std::uint64_t fib(int n) {
  if (n < 2) return n;
  std::uint64_t forked = 0;
#pragma omp task shared(forked)
  forked = fib(n - 1);
  const std::uint64_t own = fib(n - 2);
#pragma omp taskwait
  return forked + own;
}

std::uint64_t fibOf20(std::size_t) {
  std::uint64_t result = 0;
#pragma omp parallel
#pragma omp single
  result = fib(20);
  return result;
}

void onEveryWorker(const std::function<void()>& body) {
#pragma omp parallel
  body();
}

}  // namespace

int main() {
  omp_set_num_threads(peer::workers());
  return peer::serve(
      {
          peer::way("fan-out", "OpenMP task", tasks<0>),
          peer::preparedWay("fan-out", "OpenMP for dynamic(1) of std::function", dynamicLoop<0>),
          peer::way("busy", "OpenMP task", tasks<busySteps>),
          peer::preparedWay(
              "busy", "OpenMP for dynamic(1) of std::function", dynamicLoop<busySteps>),
          peer::way("chain", "OpenMP task depend(inout)", dependentTasks),
          peer::way("nested", "OpenMP task in task, taskwait", nestedTasks),
          peer::way("pairs", "OpenMP task, taskwait", tasksInTurn<2>),
          peer::way("eights", "OpenMP task, taskwait", tasksInTurn<8>),
          peer::way("fib", "OpenMP task, taskwait", fibOf20),
      },
      onEveryWorker);
}
