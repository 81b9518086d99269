// The measured work in oneTBB: task groups, parallel loops and flow graphs.
#include <oneapi/tbb.h>

#include <array>
#include <cstdint>
#include <deque>

#include "peer.hpp"

namespace flow = tbb::flow;
using peer::busySteps;
using peer::Run;
using peer::Slots;
using peer::work;

namespace {

template <int steps>
std::uint64_t taskGroup(std::size_t count) {
  Slots slots(count);
  tbb::task_group group;
  for (std::size_t i = 0; i < count; ++i) {
    group.run([&slots, i] { slots[i] = work(i, steps); });
  }
  group.wait();
  return peer::sum(slots);
}

template <int steps>
Run parallelForEach(std::size_t count) {
  return [functions = peer::makeFunctions<steps>(count)] {
    tbb::parallel_for_each(functions->list, [](const auto& function) { function(); });
    return peer::sum(functions->slots);
  };
}

template <int steps>
Run parallelFor(std::size_t count) {
  return [functions = peer::makeFunctions<steps>(count), count] {
    tbb::parallel_for(std::size_t{0}, count, [&](std::size_t i) { functions->list[i](); });
    return peer::sum(functions->slots);
  };
}

std::uint64_t nestedTaskGroups(std::size_t count) {
  const std::size_t side = peer::sideOfSquare(count);
  Slots slots(side * side);
  tbb::task_group rows;
  for (std::size_t first = 0; first < side * side; first += side) {
    rows.run([&slots, first, side] {
      tbb::task_group row;
      for (std::size_t i = first; i < first + side; ++i) {
        row.run([&slots, i] { slots[i] = work(i, 0); });
      }
      row.wait();
    });
  }
  rows.wait();
  return peer::sum(slots);
}

template <std::size_t size>
std::uint64_t taskGroupsInTurn(std::size_t count) {
  std::uint64_t total = 0;
  for (std::size_t first = 0; first + size <= count; first += size) {
    std::array<std::uint64_t, size> results;
    tbb::task_group group;
    for (std::size_t i = 0; i < size; ++i) {
      group.run([&results, first, i] { results[i] = work(first + i, 0); });
    }
    group.wait();
    total += peer::sum(results);
  }
  return total;
}

std::uint64_t fib(int n) {
  if (n < 2) return n;
  std::uint64_t forked = 0;
  tbb::task_group group;
  group.run([&forked, n] { forked = fib(n - 1); });
  const std::uint64_t own = fib(n - 2);
  group.wait();
  return forked + own;
}

using Node = flow::continue_node<flow::continue_msg>;

struct FlowGraph {
  explicit FlowGraph(std::size_t count) : slots(count) {}

  std::uint64_t run() {
    first->try_put({});
    graph.wait_for_all();
    return peer::sum(slots);
  }

  Slots slots;
  flow::graph graph;
  flow::broadcast_node<flow::continue_msg> source{graph};
  std::deque<Node> nodes;
  /// The input that runs the graph.
  flow::receiver<flow::continue_msg>* first = &source;
};

std::shared_ptr<FlowGraph> makeFan(std::size_t count) {
  auto fan = std::make_shared<FlowGraph>(count);
  for (std::size_t i = 0; i < count; ++i) {
    fan->nodes.emplace_back(
        fan->graph, [slot = &fan->slots[i], i](flow::continue_msg) { *slot = work(i, 0); });
    flow::make_edge(fan->source, fan->nodes.back());
  }
  return fan;
}

std::shared_ptr<FlowGraph> makeChain(std::size_t count) {
  auto chain = std::make_shared<FlowGraph>(count);
  for (std::size_t i = 0; i < count; ++i) {
    chain->nodes.emplace_back(
        chain->graph, [slot = &chain->slots[i], i](flow::continue_msg) { *slot = work(i, 0); });
    if (i > 0) flow::make_edge(chain->nodes[i - 1], chain->nodes[i]);
  }
  chain->first = &chain->nodes.front();
  return chain;
}

template <std::shared_ptr<FlowGraph> make(std::size_t)>
std::uint64_t builtAndRun(std::size_t count) {
  return make(count)->run();
}

template <std::shared_ptr<FlowGraph> make(std::size_t)>
Run runOnly(std::size_t count) {
  return [graph = make(count)] { return graph->run(); };
}

void onEveryWorker(const std::function<void()>& body) {
  tbb::task_group group;
  for (int worker = 0; worker < peer::workers(); ++worker) group.run(body);
  group.wait();
}

}  // namespace

int main() {
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, peer::workers());
  return peer::serve(
      {
          peer::way("fan-out", "oneTBB task_group", taskGroup<0>),
          peer::preparedWay(
              "fan-out", "oneTBB parallel_for_each of std::function", parallelForEach<0>),
          peer::preparedWay("fan-out", "oneTBB parallel_for of std::function", parallelFor<0>),
          peer::way("busy", "oneTBB task_group", taskGroup<busySteps>),
          peer::preparedWay(
              "busy", "oneTBB parallel_for_each of std::function", parallelForEach<busySteps>),
          peer::preparedWay("busy", "oneTBB parallel_for of std::function", parallelFor<busySteps>),
          peer::way("nested", "oneTBB task_group", nestedTaskGroups),
          peer::way("pairs", "oneTBB task_group", taskGroupsInTurn<2>),
          peer::way("eights", "oneTBB task_group", taskGroupsInTurn<8>),
          peer::way("fib", "oneTBB task_group", [](std::size_t) { return fib(20); }),
          peer::way("graph-fan", "oneTBB flow graph, built and run", builtAndRun<makeFan>),
          peer::preparedWay("graph-fan", "oneTBB flow graph, run only", runOnly<makeFan>),
          peer::way("graph-chain", "oneTBB flow graph, built and run", builtAndRun<makeChain>),
          peer::preparedWay("graph-chain", "oneTBB flow graph, run only", runOnly<makeChain>),
      },
      onEveryWorker);
}
