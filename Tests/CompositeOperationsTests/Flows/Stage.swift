import CompositeOperations
import CompositeOperationsTestKit

/// The surroundings of a flow: an executor, a clock and random numbers for the bodies, and a record
/// of what they do.
final class Stage: Sendable {
  let executor: SeededExecutor
  let clock = ManualClock()
  private let randomness: OperationRandomness
  private let books = Lock(Books())

  struct Line: Sendable, Equatable, CustomStringConvertible {
    /// The number of the job that wrote it, from 1.
    let job: Int
    let text: String

    var description: String { "\(job): \(text)" }
  }

  private struct Books {
    var jobs = 0
    var lines: [Line] = []
    var begun: [String: Int] = [:]
    var now: [String: Int] = [:]
    var most: [String: Int] = [:]
    var opened: [Handle] = []
    var takenOver: [Handle] = []
    var discarded: [Handle] = []

    mutating func write(_ text: String) { lines.append(Line(job: jobs + 1, text: text)) }
  }

  init(seed: UInt64) {
    executor = SeededExecutor(seed: seed)
    randomness = .seeded(~seed)
  }

  // MARK: Actions of bodies

  /// Records the beginning of an operation.
  ///
  /// - Returns: The number of operations with this name that have begun, including this one.
  func begin(_ name: String, in crew: String) -> Int {
    books.withLock { books in
      books.write("\(name) begins")
      books.begun[name, default: 0] += 1
      books.now[crew, default: 0] += 1
      books.most[crew] = max(books.most[crew, default: 0], books.now[crew, default: 0])
      return books.begun[name, default: 0]
    }
  }

  func end(_ name: String, in crew: String) {
    books.withLock { books in
      books.write("\(name) ends")
      books.now[crew, default: 0] -= 1
    }
  }

  /// Returns immediately, yields, or sleeps for some milliseconds of the clock.
  ///
  /// - Parameter isStubborn: Whether it ignores a cancellation.
  func takeTime(isStubborn: Bool = false) async throws {
    var random = randomness
    switch Int.random(in: 0...4, using: &random) {
    case 0: break
    case 1: await Task.yield()
    case let milliseconds:
      do {
        try await clock.sleep(for: .milliseconds(milliseconds))
      } catch {
        if !isStubborn { throw error }
        for _ in 0..<milliseconds { await Task.yield() }
      }
    }
  }

  func open(_ name: String) -> Handle {
    books.withLock { books in
      let handle = Handle(number: books.opened.count, name: name)
      books.opened.append(handle)
      books.write("\(handle) opens")
      return handle
    }
  }

  func discard(_ handle: Handle) {
    books.withLock { books in
      books.discarded.append(handle)
      books.write("\(handle) is discarded")
    }
  }

  /// Records that the flow itself is responsible for a handle from now on.
  func takeOver(_ handle: Handle) {
    books.withLock { books in
      books.takenOver.append(handle)
      books.write("\(handle) is taken over")
    }
  }

  func jobEnded() { books.withLock { $0.jobs += 1 } }

  // MARK: Record

  var jobs: Int { books.withLock { $0.jobs } }
  var lines: [Line] { books.withLock { $0.lines } }
  var opened: [Handle] { books.withLock { $0.opened } }
  var discarded: [Handle] { books.withLock { $0.discarded } }
  var takenOver: [Handle] { books.withLock { $0.takenOver } }
  var inFlight: Int { books.withLock { $0.now.values.reduce(0, +) } }

  /// Returns the maximum number of operations of a group that were in flight at once.
  func most(of crew: String) -> Int { books.withLock { $0.most[crew, default: 0] } }

  /// Returns the names of the operations of a group that have begun, in order. Their names begin
  /// with the name of the group.
  func begun(by crew: String) -> [String] {
    lines.map(\.text).filter { $0.hasPrefix(crew) && $0.hasSuffix(" begins") }
      .map { String($0.dropLast(" begins".count)) }
  }
}
