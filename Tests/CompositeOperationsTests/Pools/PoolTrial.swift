import CompositeOperations
import CompositeOperationsTestKit

/// A random program over a pool.
struct PoolTrial: Sendable {
  enum End: Sendable { case value, error, cancellation }

  struct Job: Sendable {
    let end: End
    let turns: Int
    /// Whether it cancels itself when its task is cancelled.
    let noticesCancellation: Bool
    let priority: OperationPool.Priority
    let isBarrier: Bool
    /// Whether its submitter can wait for room.
    let canWait: Bool
    /// Whether the delegate refuses it.
    let isUnwelcome: Bool
  }

  enum Step: Sendable {
    case submit(Int)
    case cancel(Int)
    case cancelSubmitter(Int)
    case cancelAll
    case pause, resume
    case width(Int)
    case close(OperationPool.Closing)
    case drain
  }

  enum Entry: Sendable, Equatable {
    case submitted(Int)
    case began(Int)
    /// The body is about to return.
    case returned(Int, isCancelled: Bool)
    /// The delegate was notified of the end.
    case left(Int, Ended)
    case cancelled(Int)
    case submitterCancelled(Int)
    case allCancelled, paused, resumed
    case width(Int)
    case closed(OperationPool.Closing)
    case drainBegan(Int)
    case drained(Int)
  }

  /// The outcome of a run.
  enum Ended: Sendable, Equatable {
    case value(Int)
    case error
    case cancelled
    case refused(PoolRefusalError.Reason)
    case unwelcome
  }

  let seed: UInt64
  let jobs: [Job]
  let steps: [Step]
  let width: Int
  let order: OperationPool.Order
  let capacity: Int
  let overflow: OperationPool.Overflow
  /// The minimum number of executor jobs before each step.
  let pauses: [Int]

  init(seed: UInt64) {
    self.seed = seed
    var chance = Chance(seed: seed)
    let priorities = chance.percent(50)
    let barriers = chance.percent(50) ? 12 : 0
    let submitters = chance.pick([(1, 0), (1, 50), (1, 100)])
    jobs = (0..<chance.number(1...16)).map { _ in
      Job(
        end: chance.pick([(8, .value), (2, .error), (1, .cancellation)]),
        turns: chance.number(0...3), noticesCancellation: chance.percent(50),
        priority: priorities ? .init(rawValue: chance.number(-1...1)) : .normal,
        isBarrier: chance.percent(barriers), canWait: chance.percent(submitters),
        isUnwelcome: chance.percent(4))
    }
    var steps: [Step] = []
    for job in jobs.indices {
      steps.append(.submit(job))
      if chance.percent(20) { steps.append(.cancel(chance.number(0...job))) }
      if chance.percent(8) { steps.append(.cancelSubmitter(chance.number(0...job))) }
      if chance.percent(8) { steps.append(.pause) }
      if chance.percent(10) { steps.append(.resume) }
      if chance.percent(10) { steps.append(.width(chance.number(1...4))) }
      if chance.percent(3) { steps.append(.cancelAll) }
      if chance.percent(5) { steps.append(.drain) }
      if chance.percent(2) {
        steps.append(.close(chance.percent(50) ? .runningWhatWaits : .rejectingPending))
      }
    }
    self.steps = steps
    width = chance.pick([(3, 1), (2, 2), (1, 3), (1, Int.max)])
    order = chance.percent(50) ? .fifo : .lifo
    capacity = chance.pick([(2, Int.max), (2, chance.number(1...4)), (1, 0)])
    overflow = chance.pick([(3, .wait), (1, .refuse), (1, .dropOldest), (1, .dropNewest)])
    pauses = steps.map { _ in chance.pick([(3, 0), (1, chance.number(1...6))]) }
  }

  func operation(_ index: Int, _ log: Log<Entry>) -> some ComposableOperation<Int> {
    let job = jobs[index]
    return SimpleOperation {
      log.add(.began(index))
      var end = job.end
      for _ in 0..<job.turns {
        await Task.yield()
        if Task.isCancelled, job.noticesCancellation {
          end = .cancellation
          break
        }
      }
      log.add { .returned(index, isCancelled: Task.isCancelled) }
      switch end {
      case .value: return index
      case .error: throw TestError("\(index)")
      case .cancellation: throw CancellationError()
      }
    }.named("\(index)")
  }
}

extension PoolTrial.Ended {
  init(_ outcome: Outcome<some Any>) {
    switch outcome {
    case .result(let value): self = .value((value as? Int) ?? -1)
    case .cancelled: self = .cancelled
    case .error(let error as PoolRefusalError): self = .refused(error.reason)
    case .error(is PoolDoorman.Unwelcome): self = .unwelcome
    case .error: self = .error
    }
  }
}

/// A delegate that refuses the jobs that the program marks, and records the ends of the others.
struct PoolDoorman: OperationPoolDelegate {
  struct Unwelcome: Error {}

  let trial: PoolTrial
  let log: Log<PoolTrial.Entry>

  func willTake(_ member: PoolMember) throws {
    if let index = Int(member.name), trial.jobs[index].isUnwelcome { throw Unwelcome() }
  }

  func didEnd(_ member: PoolMember, in outcome: Outcome<any Sendable>) {
    if let index = Int(member.name) { log.add(.left(index, PoolTrial.Ended(outcome))) }
  }
}
