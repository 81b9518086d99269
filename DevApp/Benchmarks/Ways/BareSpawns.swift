import Dispatch
import Foundation
import Synchronization

/// Processes without an engine: threads that each start a program and block until it has ended.
///
/// The limit of the machine for starting programs from this process.
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
      return posix_spawn(&process, path, nil, nil, &arguments, environ) == 0
    }
    var status: Int32 = 0
    return isStarted && waitpid(process, &status, 0) == process && status == 0
  }
}
