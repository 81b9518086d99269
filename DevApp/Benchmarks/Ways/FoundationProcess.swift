import CompositeOperations
import Foundation

/// A program that is run by Foundation, without reading its output.
struct FoundationProcess: ComposableOperation {
  let path: String

  func perform(in context: OperationContext) async throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: path)
    let status = try await withCheckedThrowingContinuation { continuation in
      process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
      do { try process.run() } catch { continuation.resume(throwing: error) }
    }
    if status != 0 { throw BenchmarkError("\(path) exited with status \(status)") }
  }
}
