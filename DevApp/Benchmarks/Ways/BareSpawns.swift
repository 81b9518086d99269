import Dispatch
import Foundation
import Synchronization

/// Processes without an engine: threads that each start a program and block until it has ended.
///
/// What remains of a run of a program if nothing is kept, ended or cancelled.
enum BareSpawns {
  static func run(_ path: String, count: Int, threads: Int) throws -> UInt64 {
    let next = Atomic(0)
    let failures = Atomic(0)
    DispatchQueue.concurrentPerform(iterations: threads) { _ in
      while next.add(1, ordering: .relaxed).oldValue < count {
        if !ends(path) { failures.add(1, ordering: .relaxed) }
      }
    }
    let failed = failures.load(ordering: .relaxed)
    if failed > 0 { throw BenchmarkError("\(failed) of \(count) runs of \(path) failed") }
    return UInt64(count)
  }

  /// Runs the program, and returns whether it ended with status 0.
  private static func ends(_ path: String) -> Bool {
    var process = pid_t()
    let isStarted = path.withCString { path in
      var arguments: [UnsafeMutablePointer<CChar>?] = [UnsafeMutablePointer(mutating: path), nil]
      var variables: [UnsafeMutablePointer<CChar>?] = [nil]
      return posix_spawn(&process, path, nil, nil, &arguments, &variables) == 0
    }
    guard isStarted else { return false }
    var status: Int32 = 0
    while waitpid(process, &status, 0) != process {
      if errno != EINTR { return false }
    }
    return status == 0
  }
}
