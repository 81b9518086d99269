// The common parts of the peers in C++: the work, the description of a way, and the protocol.
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

/// The results of the operations, one slot each.
using Slots = std::vector<std::uint64_t>;

/// The work of an operation, opaque to the optimizer of the caller.
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

/// Returns the side of the largest square with at most `count` operations.
inline std::size_t sideOfSquare(std::size_t count) {
  return static_cast<std::size_t>(std::sqrt(static_cast<double>(count)));
}

/// The number of threads that an engine may use.
inline int workers() {
  const char* text = std::getenv("PEER_WORKERS");
  const int number = text ? std::atoi(text) : 0;
  return number > 0 ? number : 2;
}

/// Does the work once and returns its checksum. Only this is measured.
using Run = std::function<std::uint64_t()>;

struct Way {
  std::string shape;
  std::string name;
  /// Makes what a run may have in advance.
  std::function<Run(std::size_t count)> prepare;
};

/// Returns a way that makes everything while it is measured.
inline Way way(std::string shape, std::string name, std::uint64_t (*run)(std::size_t count)) {
  return {std::move(shape), std::move(name), [run](std::size_t count) -> Run {
            return [run, count] { return run(count); };
          }};
}

/// Returns a way that uses something made in advance.
inline Way preparedWay(std::string shape, std::string name, Run (*prepare)(std::size_t count)) {
  return {std::move(shape), std::move(name), prepare};
}

/// Operations that are opaque to an engine, which can only call them.
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

/// Calls the body once on every worker of the engine, in parallel.
using OnEveryWorker = void (*)(const std::function<void()>& body);

/// Keeps every core busy briefly, because a sleeping core takes long to start.
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

/// Waits until the threads are idle, so that they take no time from the next measurement: the
/// threads of some engines continue to look for work. The system may update the time of a thread
/// only every 10 ms.
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

/// Prints the ways, then answers requests until there are no more. Call it at the end of `main`.
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
