internal import CompositeOperations

/// A write that may share a transaction with others.
struct PostgresWrite: Sendable {
  typealias Waiter = CheckedContinuation<PostgresRows, any Error>

  /// The maximum number of writes in a transaction.
  static let batchLimit = 64
  /// The size of the values, in bytes, at which a transaction takes no further writes.
  static let batchSize = 4 << 20

  let request: PostgresRequest
  /// The writes of a transaction are in this order, so that transactions lock rows in the same one.
  let order: String
  let waiter: Waiter
}

extension PostgresPool {
  typealias Job = @Sendable (PostgresLane) -> PostgresLane.Resumption

  enum Work: Sendable {
    case job(Job)
    case writes([PostgresWrite])
  }

  /// The idle connections, and the requests that wait for one.
  struct StateMachine {
    /// The lanes without work; the one that was used last is at the end.
    private var idle: [PostgresLane]
    private var jobs = FIFOQueue<(number: Int, job: Job)>()
    private var writes = FIFOQueue<(number: Int, write: PostgresWrite)>()
    /// The first of each queue.
    private var nextJob: (number: Int, job: Job)?
    private var nextWrite: (number: Int, write: PostgresWrite)?
    private var count = 0

    init(_ lanes: [PostgresLane]) { idle = lanes.reversed() }

    /// A job was submitted.
    ///
    /// - Returns: The lane that must run it now; nil if all are busy.
    mutating func submitted(_ job: @escaping Job) -> PostgresLane? {
      if let lane = idle.popLast() { return lane }
      count += 1
      if nextJob == nil { nextJob = (count, job) } else { jobs.append((count, job)) }
      return nil
    }

    /// A write was submitted.
    ///
    /// - Returns: The lane that must execute it now; nil if all are busy.
    mutating func submitted(_ write: PostgresWrite) -> PostgresLane? {
      if let lane = idle.popLast() { return lane }
      count += 1
      if nextWrite == nil { nextWrite = (count, write) } else { writes.append((count, write)) }
      return nil
    }

    /// A lane has finished its work.
    ///
    /// - Returns: Its next work: the request that waits longest, where a write takes further writes
    ///   with it. Nil if no request waits.
    mutating func finished(_ lane: PostgresLane) -> Work? {
      if let first = nextJob, first.number < nextWrite?.number ?? .max {
        nextJob = jobs.popFirst()
        return .job(first.job)
      }
      var batch: [PostgresWrite] = []
      var size = 0
      while let first = nextWrite, batch.count < PostgresWrite.batchLimit,
        size < PostgresWrite.batchSize
      {
        batch.append(first.write)
        size += first.write.request.parameters.bytes.count
        nextWrite = writes.popFirst()
      }
      if batch.isEmpty {
        idle.append(lane)
        return nil
      }
      return .writes(batch)
    }
  }
}
