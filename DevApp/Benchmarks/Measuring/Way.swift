/// A way to do the work of a shape, measured beside the others.
struct Way: Sendable {
  enum Role: String, Sendable, Encodable {
    /// This package.
    case ours
    /// A means of Swift or Foundation.
    case swift
    /// Calls or a loop, which run nothing in parallel and handle no end but a result.
    case plain
    /// The limit of the machine, or of Swift's tasks, which no usual program reaches.
    case limit
    /// An engine in another language, in a separate process.
    case peer
  }

  enum Body: Sendable {
    /// Runs in a task of its own.
    case asynchronous(@Sendable () async throws -> Sample)
    /// Runs on the main thread, and blocks it until the work is done.
    case blocking(@Sendable () throws -> Sample)
  }

  let name: String
  let role: Role
  let body: Body

  /// Creates a way that takes its own sample, because only a part of its work is measured.
  init(
    _ name: String, _ role: Role, sampling body: @escaping @Sendable () async throws -> Sample
  ) {
    self.init(name, role, body: .asynchronous(body))
  }

  /// Creates a way that is timed as a whole.
  init(
    _ name: String, _ role: Role, _ work: @escaping @Sendable () async throws -> UInt64
  ) {
    self.init(name, role) {
      let start = ContinuousClock.now
      let checksum = try await work()
      return Sample(amount: Stopwatch.nanoseconds(since: start), checksum: checksum)
    }
  }

  /// Creates a way with threads and queues that is timed as a whole.
  static func blocking(
    _ name: String, _ role: Role, _ work: @escaping @Sendable () throws -> UInt64
  ) -> Way {
    blocking(
      name, role,
      sampling: {
        let start = ContinuousClock.now
        let checksum = try work()
        return Sample(amount: Stopwatch.nanoseconds(since: start), checksum: checksum)
      })
  }

  /// Creates a way with threads and queues that takes its own sample.
  static func blocking(
    _ name: String, _ role: Role, sampling body: @escaping @Sendable () throws -> Sample
  ) -> Way {
    Way(name, role, body: .blocking(body))
  }

  private init(_ name: String, _ role: Role, body: Body) {
    self.name = name
    self.role = role
    self.body = body
  }
}
