// What the peers in C++ share: the work, how a way is described, and the lines that a peer speaks.
#pragma once

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <functional>
#include <iostream>
#include <memory>
#include <numeric>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace peer {

using Clock = std::chrono::steady_clock;

/// Where the operations put their results, one slot each.
using Slots = std::vector<std::uint64_t>;

/// What an operation computes. The caller's optimiser learns nothing about it.
[[gnu::noipa]] inline std::uint64_t work(std::uint64_t seed, int steps) {
  std::uint64_t value = seed;
  for (int step = 0; step < steps; ++step) {
    value = (value ^ (value >> 29)) * 6'364'136'223'846'793'005u;
  }
  return value;
}

/// The steps of a busy operation: about a microsecond.
constexpr int busySteps = 800;

template <class Numbers>
std::uint64_t sum(const Numbers& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), std::uint64_t{0});
}

/// The side of the largest square of operations that `count` suffices for.
inline std::size_t sideOfSquare(std::size_t count) {
  return static_cast<std::size_t>(std::sqrt(static_cast<double>(count)));
}

/// How many threads an engine may use.
inline int workers() {
  const char* text = std::getenv("PEER_WORKERS");
  const int number = text ? std::atoi(text) : 0;
  return number > 0 ? number : 2;
}

/// Does the work once and gives its checksum. This is what is measured.
using Run = std::function<std::uint64_t()>;

struct Way {
  std::string shape;
  std::string name;
  /// Makes what a run needs and may have beforehand.
  std::function<Run(std::size_t count)> prepare;
};

/// A way that makes all it needs while it is measured.
inline Way way(std::string shape, std::string name, std::uint64_t (*run)(std::size_t count)) {
  return {std::move(shape), std::move(name), [run](std::size_t count) -> Run {
            return [run, count] { return run(count); };
          }};
}

/// A way that is given something that was made beforehand.
inline Way preparedWay(std::string shape, std::string name, Run (*prepare)(std::size_t count)) {
  return {std::move(shape), std::move(name), prepare};
}

/// Operations that an engine knows nothing about but how to call them.
struct Functions {
  Slots slots;
  std::vector<std::function<void()>> list;
};

template <int steps>
std::shared_ptr<Functions> makeFunctions(std::size_t count) {
  auto functions = std::make_shared<Functions>();
  functions->slots.resize(count);
  functions->list.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    functions->list.push_back([slot = &functions->slots[i], i] { *slot = work(i, steps); });
  }
  return functions;
}

/// Calls the body once on every worker of the engine, side by side.
using OnEveryWorker = void (*)(const std::function<void()>& body);

/// Keeps every core busy for a moment: one that sleeps takes long to join in.
inline void wake(OnEveryWorker onEveryWorker) {
  std::atomic<int> arrived{0};
  onEveryWorker([&arrived] {
    using namespace std::chrono_literals;
    ++arrived;
    const auto limit = Clock::now() + 30ms;
    while (arrived < workers() && Clock::now() < limit) {
    }
    const auto end = Clock::now() + 200us;
    while (Clock::now() < end) {
    }
  });
}

/// Waits until the threads rest, so that they take no time from whoever is measured next: some
/// engines' go on looking for work. The system may count what a thread uses once in 10 ms.
inline void settle() {
  for (int waits = 0; waits < 10; ++waits) {
    const std::clock_t before = std::clock();
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    if (std::clock() - before < CLOCKS_PER_SEC / 1000) return;
  }
}

inline std::string answer(
    const std::string& request, const std::vector<Way>& ways, OnEveryWorker onEveryWorker) {
  constexpr long maximum = 10'000'000;
  std::istringstream words(request);
  long number = 0;
  long count = 0;
  std::string rest;
  if (!(words >> number >> count) || words >> rest) return "error a request is two numbers";
  if (number < 0 || number >= static_cast<long>(ways.size())) return "error there is no such way";
  if (count < 1 || count > maximum) return "error the count must be from 1 to 10000000";

  const Run run = ways[number].prepare(count);
  wake(onEveryWorker);
  const auto start = Clock::now();
  const std::uint64_t checksum = run();
  const std::chrono::nanoseconds duration = Clock::now() - start;
  settle();
  return std::to_string(duration.count()) + " " + std::to_string(checksum);
}

/// Tells the ways, then answers requests until there are no more. For use as the end of `main`.
inline int serve(const std::vector<Way>& ways, OnEveryWorker onEveryWorker) {
  for (const Way& way : ways) std::cout << "way\t" << way.shape << '\t' << way.name << '\n';
  std::cout << "ready" << std::endl;
  for (std::string request; std::getline(std::cin, request);) {
    try {
      std::cout << answer(request, ways, onEveryWorker) << std::endl;
    } catch (const std::exception& failure) {
      std::cout << "error " << failure.what() << std::endl;
    }
  }
  return 0;
}

}  // namespace peer
