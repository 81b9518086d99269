import CompositeOperations
import CompositeOperationsTestKit
import DurableOperations
import DurableRecords
import DurableTestSupport
import RecordOperations

/// A flow that books records in the file of its journal.
///
/// Each booking adds 1 to a counter and creates a record, which fails if that exists.
struct Bookings: DurableSequence {
  enum Step: String, Codable {
    /// A step of its own.
    case own
    /// Two parts of a composite, with keys.
    case parts
    /// A step that fails after it has booked.
    case failing
  }

  /// The database, which a flow cannot hold.
  @TaskLocal static var database = SQLiteRecordDatabase("/nonexistent/none.sqlite")
  /// Passed before a step is returned.
  @TaskLocal static var gate: Gate?

  let steps: [Step]
  var keeping: Int?
  /// The results so far; -1 for an error.
  var results: [Int] = []

  init(_ steps: Step..., keeping: Int? = nil) { (self.steps, self.keeping) = (steps, keeping) }

  var history: StepHistory { keeping.map { .last($0) } ?? .all }

  mutating func nextOperation(
    after previous: FinishedStep?
  ) async -> (any ComposableOperation)? {
    if let previous {
      results += previous.result(as: [Int].self) ?? [previous.result(as: Int.self) ?? -1]
    }
    let next = (previous?.index ?? -1) + 1
    guard next < steps.count else { return nil }
    await Self.gate?.passIgnoringCancellation()
    switch steps[next] {
    case .own: return Self.booking("\(next)").named("own")
    case .parts:
      return ParallelOperation((0..<2).map { Self.booking("\(next)-\($0)").journaled(as: $0) })
        .map { totals in totals.map { _ in 0 } }
    case .failing:
      return CommittedStep<Int>(in: Self.database) { records in
        _ = try records.book("\(next)")
        throw BookingError(code: next)
      }
    }
  }

  func output(of steps: FinishedSteps) -> [Int] { results }

  static func booking(_ name: String) -> CommittedStep<Int> {
    CommittedStep(in: database) { try $0.book(name) }
  }

  /// The names of the bookings of finished steps, and of the stored parts of the step in progress.
  func expectedBookings(finished: Int, keys: [String]) -> [String] {
    let booked = steps.prefix(finished).enumerated().flatMap { number, step -> [String] in
      switch step {
      case .own: ["\(number)"]
      case .parts: ["\(number)-0", "\(number)-1"]
      case .failing: []
      }
    }
    return (booked + keys.map { "\(finished)-\($0)" }).sorted()
  }

  /// The number of results in the state that is stored with a step.
  func resultCount(finished: Int) -> Int {
    steps.prefix(max(0, finished - 1)).reduce(0) { $0 + ($1 == .parts ? 2 : 1) }
  }
}

extension RecordWriter {
  /// Books a name.
  ///
  /// - Returns: The number of bookings.
  func book(_ name: String) throws -> Int {
    var counter =
      try record(RecordID("Counter", "all")) ?? DatabaseRecord("Counter", "all")
    let count = (try counter.value("count", as: Int?.self) ?? 0) + 1
    counter["count"] = .integer(Int64(count))
    try save([counter])
    try save([DatabaseRecord("Booking", name)])
    return count
  }
}

extension SQLiteRecordDatabase {
  /// The names of the bookings.
  var bookings: [String] {
    get async throws {
      try await QueryRecords("Booking", in: self).run().get().map(\.id.name).sorted()
    }
  }

  /// The number of bookings that the counter has counted.
  var bookingCount: Int {
    get async throws {
      let id = RecordID("Counter", "all")
      return try await lookup([id], keys: nil)[id]?.value("count") ?? 0
    }
  }
}

/// Performs a body with a file, and the database of its records.
func withBookings<Value>(
  _ body: (_ file: String, SQLiteRecordDatabase) async throws -> Value
) async throws -> Value {
  try await withTemporaryFile { file in
    let database = SQLiteRecordDatabase(file)
    return try await Bookings.$database.withValue(database) { try await body(file, database) }
  }
}

struct BookingError: Error, Codable, Hashable { var code = 0 }
