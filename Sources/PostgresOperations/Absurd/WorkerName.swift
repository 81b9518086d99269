internal import CompositeOperations
internal import Foundation

/// The names under which this process claims runs: the machine, the process, and a number that
/// distinguishes its claims.
final class WorkerName: Sendable {
  let process: String
  private let count = Lock(0)

  init() {
    let info = ProcessInfo.processInfo
    // The start distinguishes processes with the same number, as in containers.
    let start = String(UInt32.random(in: .min ... .max), radix: 36)
    process = "\(info.hostName)/\(info.processIdentifier)-\(start)"
  }

  /// A name that no other claim has.
  func next() -> String {
    let number = count.withLock { count in
      count += 1
      return count
    }
    return "\(process)/\(number)"
  }

  /// The machine and the process of a worker.
  static func process(of worker: String) -> String {
    worker.lastIndex(of: "/").map { String(worker[..<$0]) } ?? worker
  }
}
