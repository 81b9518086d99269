internal import Foundation

/// The name of the current thread in the system.
public func threadName() -> String? {
  #if os(Linux)
    let name = try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)
    return name.map { String($0.dropLast()) }
  #else
    return Thread.current.name
  #endif
}
