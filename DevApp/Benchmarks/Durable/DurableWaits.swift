import CompositeOperations
import DurableOperations
import Synchronization

/// A process with a worker and many parked runs.
final class ParkedRuns: Sendable {
  private let process: WorkerProcess
  private let file: String
  private let folder: DurableFolder

  init(count: Int, in folder: DurableFolder) throws {
    self.folder = folder
    file = try folder.makeFile()
    process = try WorkerProcess(["park", file, "\(count)"])
    _ = try process.readNumbers(2, withinSeconds: 600)
    process.pause()
  }

  deinit { folder.remove(file) }

  struct Measurement {
    let nanoseconds: Double
    let residentBytes: Double
    let heapBytes: Double
  }

  /// Parks more runs until one time, or only measures the memory if the count is 0.
  ///
  /// - Returns: The time from then until all have begun, and the memory that the worker has gained
  ///   since its beginning.
  func wake(_ count: Int) throws -> Measurement {
    process.resume()
    defer { process.pause() }
    try process.write("\(count)")
    let numbers = try process.readNumbers(3)
    return Measurement(
      nanoseconds: numbers[0], residentBytes: numbers[1], heapBytes: numbers[2])
  }
}

extension Shape {
  /// The time from which runs are due until all of them have begun.
  static func parked(
    _ runs: Prepared<Result<ParkedRuns, any Error>>, due: Int, of count: Int
  ) -> Shape {
    Shape(
      id: "parked", title: "\(count.grouped) parked runs, of which \(due.grouped) are due",
      operations: 1, unit: .milliseconds,
      ways: [
        .blocking(
          "all begun", .ours,
          sampling: {
            Sample(amount: try runs.value.get().wake(due).nanoseconds, checksum: 0)
          })
      ])
  }

  /// The memory of a worker for its parked runs.
  static func parkedMemory(
    _ runs: Prepared<Result<ParkedRuns, any Error>>, of count: Int
  ) -> Shape {
    func way(_ name: String, _ bytes: @escaping @Sendable (ParkedRuns.Measurement) -> Double) -> Way
    {
      .blocking(
        name, .ours,
        sampling: { Sample(amount: bytes(try runs.value.get().wake(0)), checksum: 0) })
    }
    return Shape(
      id: "parked-memory", title: "memory of a worker with \(count.grouped) parked runs",
      operations: count, unit: .bytesPerRun,
      ways: [way("resident") { $0.residentBytes }, way("heap") { $0.heapBytes }])
  }

  /// An operation with a key, outside of a durable run.
  static func journaled(count: Int) -> Shape {
    let work = Work(seed: 7)
    return Shape(
      id: "journaled", title: "an operation outside of a durable run", operations: count,
      ways: [
        running("no modifier", work, count),
        running("journaled(as:)", work.journaled(as: "key"), count),
      ])
  }
}
