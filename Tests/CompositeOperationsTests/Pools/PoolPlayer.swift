import CompositeOperations
import CompositeOperationsTestKit

/// Runs a program over a pool, from one thread or from several.
final class PoolPlayer: Sendable {
  let trial: PoolTrial
  let log = Log<PoolTrial.Entry>()
  private let pool: OperationPool
  private let executor: SeededExecutor?

  /// A job that has been submitted, or whose submitter waits.
  private struct Submitted: Sendable {
    var run: OperationRun<Int>?
    var submitter: Task<Void, Never>?
  }

  private let submitted: Lock<[Int: Submitted]> = Lock([:])
  private let drains = Lock<[Task<Void, Never>]>([])

  init(_ trial: PoolTrial, executor: SeededExecutor? = nil) {
    self.trial = trial
    self.executor = executor
    pool = OperationPool(
      width: trial.width == .max ? .adaptive : .limited(to: trial.width), order: trial.order,
      capacity: trial.capacity, overflow: trial.overflow,
      delegate: PoolDoorman(trial: trial, log: log),
      in: OperationEnvironment(executor: executor))
  }

  var counts: (running: Int, waiting: Int) { (pool.runningCount, pool.waitingCount) }

  /// Performs a step. Adds its entry first, because the step can add entries immediately.
  func take(_ step: PoolTrial.Step) {
    switch step {
    case .submit(let index) where trial.jobs[index].canWait:
      let task = Task(executorPreference: executor) {
        self.log.add(.submitted(index))
        let run = await self.submitWaiting(index)
        self.submitted.withLock { $0[index, default: Submitted()].run = run }
      }
      submitted.withLock { $0[index, default: Submitted()].submitter = task }
    case .submit(let index):
      log.add(.submitted(index))
      let run = submit(index)
      submitted.withLock { $0[index, default: Submitted()].run = run }
    case .cancel(let index):
      guard let run = submitted.withLock({ $0[index]?.run }) else { return }
      log.add(.cancelled(index))
      run.cancel()
    case .cancelSubmitter(let index):
      guard let task = submitted.withLock({ $0[index]?.submitter }) else { return }
      log.add(.submitterCancelled(index))
      task.cancel()
    case .cancelAll:
      log.add(.allCancelled)
      pool.cancelAll()
    case .pause:
      log.add(.paused)
      pool.pause()
    case .resume:
      log.add(.resumed)
      pool.resume()
    case .width(let width):
      log.add(.width(width))
      pool.width = .limited(to: width)
    case .close(let closing):
      log.add(.closed(closing))
      pool.close(closing)
    case .drain:
      let task = Task(executorPreference: executor) {
        let number = self.log.count
        self.log.add(.drainBegan(number))
        await self.pool.drain()
        self.log.add(.drained(number))
      }
      drains.withLock { $0.append(task) }
    }
  }

  private func submit(_ index: Int) -> OperationRun<Int> {
    let job = trial.jobs[index]
    return pool.submitNow(
      trial.operation(index, log), priority: job.priority, isBarrier: job.isBarrier)
  }

  private nonisolated(nonsending) func submitWaiting(_ index: Int) async -> OperationRun<Int> {
    let job = trial.jobs[index]
    return await pool.submit(
      trial.operation(index, log), priority: job.priority, isBarrier: job.isBarrier)
  }

  /// Waits for all runs and returns the outcomes of their handles.
  func ends() async -> [Int: PoolTrial.Ended] {
    for task in drains.withLock({ $0 }) { await task.value }
    var ends: [Int: PoolTrial.Ended] = [:]
    for (index, job) in submitted.withLock({ $0 }) {
      await job.submitter?.value
      guard let run = submitted.withLock({ $0[index]?.run }) else { continue }
      ends[index] = PoolTrial.Ended(await run.outcome)
    }
    return ends
  }
}

extension PoolTrial {
  /// Runs the program on one thread, where the order of all events is known.
  ///
  /// - Returns: The violated rules.
  func findingsOnOneWorker() async -> [String] {
    let executor = SeededExecutor(seed: seed)
    let player = PoolPlayer(self, executor: executor)
    var judge = PoolJudge(self)
    var read = 0
    func compare() {
      let entries = player.log.entries
      for entry in entries[read...] { judge.read(entry) }
      read = entries.count
      judge.compare(player.counts)
    }
    var program = (steps + [.resume])[...]
    var next = 0
    func takeSteps(upTo job: Int) {
      while next <= job, let step = program.popFirst() {
        player.take(step)
        compare()
        next = job + (pauses.dropFirst(steps.count - program.count).first ?? 0)
      }
    }
    repeat {
      // If no job is ready, the next step follows immediately.
      next = 0
      takeSteps(upTo: 0)
      executor.drain { job in
        compare()
        takeSteps(upTo: job)
      }
    } while !program.isEmpty
    guard judge.findings.isEmpty, judge.isOver else {
      return judge.findings.map { "\($0)\n\(self)\n\(player.log.entries)" }
        + ["\(judge.left) never left\n\(self)\n\(player.log.entries)"]
    }
    judge.finish(await player.ends())
    return judge.findings.map { "\($0)\n\(self)\n\(player.log.entries)" }
  }

  /// Runs the program from several threads.
  ///
  /// - Returns: The violated rules.
  func findingsOnAllWorkers() async -> [String] {
    let player = PoolPlayer(self)
    await withDiscardingTaskGroup { group in
      for first in 0..<4 {
        group.addTask {
          for step in stride(from: first, to: self.steps.count, by: 4) {
            player.take(self.steps[step])
            if self.pauses[step] > 0 { await Task.yield() }
          }
        }
      }
    }
    player.take(.resume)
    let ends = await player.ends()
    let findings = PoolWitness.findings(in: player.log.entries, of: self, ends)
    return findings.map { "\($0)\n\(self)\n\(player.log.entries)\n\(ends)" }
  }
}
