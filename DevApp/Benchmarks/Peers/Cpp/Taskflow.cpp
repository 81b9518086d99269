// The measured work in Taskflow: graphs, asynchronous tasks and task groups.
#include <array>
#include <cstdint>
#include <memory>
#include <taskflow/taskflow.hpp>

#include "peer.hpp"

using peer::busySteps;
using peer::Run;
using peer::Slots;
using peer::work;

namespace {

tf::Executor& executor() {
  static tf::Executor executor(peer::workers());
  return executor;
}

template <int steps>
std::uint64_t graph(std::size_t count) {
  Slots slots(count);
  tf::Taskflow taskflow;
  for (std::size_t i = 0; i < count; ++i) {
    taskflow.emplace([&slots, i] { slots[i] = work(i, steps); });
  }
  executor().run(taskflow).wait();
  return peer::sum(slots);
}

struct PreparedGraph {
  Slots slots;
  tf::Taskflow taskflow;
};

template <int steps>
Run preparedGraph(std::size_t count) {
  auto graph = std::make_shared<PreparedGraph>();
  graph->slots.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    graph->taskflow.emplace([slot = &graph->slots[i], i] { *slot = work(i, steps); });
  }
  return [graph] {
    executor().run(graph->taskflow).wait();
    return peer::sum(graph->slots);
  };
}

template <int steps>
std::uint64_t silentAsync(std::size_t count) {
  Slots slots(count);
  for (std::size_t i = 0; i < count; ++i) {
    executor().silent_async([&slots, i] { slots[i] = work(i, steps); });
  }
  executor().wait_for_all();
  return peer::sum(slots);
}

std::uint64_t nestedSubflows(std::size_t count) {
  const std::size_t side = peer::sideOfSquare(count);
  Slots slots(side * side);
  tf::Taskflow taskflow;
  for (std::size_t first = 0; first < side * side; first += side) {
    taskflow.emplace([&slots, first, side](tf::Subflow& subflow) {
      for (std::size_t i = first; i < first + side; ++i) {
        subflow.emplace([&slots, i] { slots[i] = work(i, 0); });
      }
    });
  }
  executor().run(taskflow).wait();
  return peer::sum(slots);
}

template <std::size_t size>
std::uint64_t taskGroupsInTurn(std::size_t count) {
  return executor()
      .async([count] {
        std::uint64_t total = 0;
        for (std::size_t first = 0; first + size <= count; first += size) {
          std::array<std::uint64_t, size> results;
          tf::TaskGroup group = executor().task_group();
          for (std::size_t i = 0; i < size; ++i) {
            group.silent_async([&results, first, i] { results[i] = work(first + i, 0); });
          }
          group.corun();
          total += peer::sum(results);
        }
        return total;
      })
      .get();
}

std::uint64_t fib(int n) {
  if (n < 2) return n;
  std::uint64_t forked = 0;
  tf::TaskGroup group = executor().task_group();
  group.silent_async([&forked, n] { forked = fib(n - 1); });
  const std::uint64_t own = fib(n - 2);
  group.corun();
  return forked + own;
}

std::uint64_t fibOf20(std::size_t) {
  return executor().async([] { return fib(20); }).get();
}

std::uint64_t graphFan(std::size_t count) {
  Slots slots(count);
  tf::Taskflow taskflow;
  tf::Task source = taskflow.emplace([] {});
  for (std::size_t i = 0; i < count; ++i) {
    source.precede(taskflow.emplace([&slots, i] { slots[i] = work(i, 0); }));
  }
  executor().run(taskflow).wait();
  return peer::sum(slots);
}

std::uint64_t graphChain(std::size_t count) {
  std::uint64_t total = 0;
  tf::Taskflow taskflow;
  tf::Task last;
  for (std::size_t i = 0; i < count; ++i) {
    tf::Task next = taskflow.emplace([&total, i] { total += work(i, 0); });
    if (i > 0) last.precede(next);
    last = next;
  }
  executor().run(taskflow).wait();
  return total;
}

void onEveryWorker(const std::function<void()>& body) {
  for (int worker = 0; worker < peer::workers(); ++worker) executor().silent_async(body);
  executor().wait_for_all();
}

}  // namespace

int main() {
  return peer::serve(
      {
          peer::way("fan-out", "Taskflow graph, built and run", graph<0>),
          peer::preparedWay("fan-out", "Taskflow graph, run only", preparedGraph<0>),
          peer::way("fan-out", "Taskflow silent_async", silentAsync<0>),
          peer::way("busy", "Taskflow graph, built and run", graph<busySteps>),
          peer::preparedWay("busy", "Taskflow graph, run only", preparedGraph<busySteps>),
          peer::way("busy", "Taskflow silent_async", silentAsync<busySteps>),
          peer::way("nested", "Taskflow subflows, built and run", nestedSubflows),
          peer::way("pairs", "Taskflow TaskGroup", taskGroupsInTurn<2>),
          peer::way("eights", "Taskflow TaskGroup", taskGroupsInTurn<8>),
          peer::way("fib", "Taskflow TaskGroup", fibOf20),
          peer::way("graph-fan", "Taskflow graph, built and run", graphFan),
          peer::way("graph-chain", "Taskflow graph, built and run", graphChain),
      },
      onEveryWorker);
}
