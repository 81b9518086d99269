import Foundation

/// What the system calls the thread that asks.
func threadName() -> String? {
  #if os(Linux)
    let name = try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)
    return name.map { String($0.dropLast()) }
  #else
    return Thread.current.name
  #endif
}
