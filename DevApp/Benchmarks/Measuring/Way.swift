/// One way to do a shape's work, measured beside the others.
struct Way: Sendable {
  enum Role: String, Sendable, Encodable {
    /// This package.
    case ours
    /// What Swift and Foundation have.
    case swift
    /// What the machine can do at most; nobody's way to write a program.
    case limit
    /// An engine of another language, in a process of its own.
    case peer
  }

  enum Body: Sendable {
    /// Runs in a task of its own.
    case asynchronous(@Sendable () async throws -> Sample)
    /// Runs on the main thread and keeps it until the work is done.
    case blocking(@Sendable () throws -> Sample)
  }

  let name: String
  let role: Role
  let body: Body

  /// A way that takes its sample itself, because not all it does is to be measured.
  init(
    _ name: String, _ role: Role, sampling body: @escaping @Sendable () async throws -> Sample
  ) {
    self.init(name, role, body: .asynchronous(body))
  }

  /// A way that is timed from its first line to its last.
  init(
    _ name: String, _ role: Role, _ work: @escaping @Sendable () async throws -> UInt64
  ) {
    self.init(name, role) {
      let start = ContinuousClock.now
      let checksum = try await work()
      return Sample(amount: Stopwatch.nanoseconds(since: start), checksum: checksum)
    }
  }

  /// A way of threads and queues, timed from its first line to its last.
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

  /// A way of threads and queues that takes its sample itself.
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
