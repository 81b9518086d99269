import Foundation

/// Standard output without a buffer. Write errors are thrown.
enum StandardOutput {
  static func write(_ text: String) throws {
    do {
      try FileHandle.standardOutput.write(contentsOf: Data((text + "\n").utf8))
    } catch {
      throw BenchmarkError("the output cannot be written: \(error.localizedDescription)")
    }
  }
}
