import Foundation

/// Where figures go: what cannot be written there is an error, and nothing waits in a buffer.
enum StandardOutput {
  static func write(_ text: String) throws {
    do {
      try FileHandle.standardOutput.write(contentsOf: Data((text + "\n").utf8))
    } catch {
      throw BenchmarkError("the output cannot be written: \(error.localizedDescription)")
    }
  }
}
