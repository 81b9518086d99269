import Foundation
import SystemSupport

/// The lock of a flow: one process runs it at a time. The system releases the lock when the process
/// ends, however it ends.
final class FlowRunLock: Sendable {
  private let lock: FileLock

  /// - Throws: A ``FlowLockedError`` if another process runs the flow; the error of the system;
  ///   `CancellationError`.
  init(of flow: String, in folder: FlowFolder) async throws {
    let path = folder.runLock
    // A process that is killed while it starts a command leaves a copy of itself, which has the lock
    // until the program of the command is loaded. And a process that asks whether the flow is running has
    // it for a moment.
    let begin = ContinuousClock.now
    while true {
      if let lock = try FileLock.acquire(path, creating: true) {
        self.lock = lock
        try FlowLockHolder.current.write(to: path)
        return
      }
      let holder = FlowLockHolder(readFrom: path)
      let limit: Duration = holder?.isAlive == false ? .seconds(5) : .milliseconds(50)
      if ContinuousClock.now > begin + limit {
        throw FlowLockedError(flow: flow, holder: holder)
      }
      try await Task.sleep(for: .milliseconds(5))
    }
  }
}

/// The process that holds the lock of a flow, as the file of the lock shows it.
struct FlowLockHolder: Equatable, Sendable {
  let process: Int32
  /// Milliseconds since 1970.
  let began: Int64

  static var current: FlowLockHolder {
    FlowLockHolder(
      process: ProcessInfo.processInfo.processIdentifier,
      began: EventTime.wallClockNow / 1_000_000)
  }

  init(process: Int32, began: Int64) {
    self.process = process
    self.began = began
  }

  /// Nil if the holder has not written it yet.
  init?(readFrom path: String) {
    guard let bytes = try? FileDescriptor.contents(ofFile: path) else { return nil }
    let words = String(decoding: bytes, as: UTF8.self).split(separator: " ")
    guard words.count == 2, let process = Int32(words[0]), let began = Int64(words[1]) else {
      return nil
    }
    self.init(process: process, began: began)
  }

  /// Whether the process exists.
  var isAlive: Bool {
    guard SystemProcess.group(of: process) != nil else { return false }
    return ProcessTable.listed(process)?.isZombie != true
  }

  func write(to path: String) throws(SystemError) {
    let file = try FileDescriptor.open(path, .writeOnly, .truncate)
    defer { try? file.close() }
    try file.write(Array("\(process) \(began)".utf8), brokenPipe: .error)
  }
}

/// The error of a run whose flow is already running, in this process or in another one.
public struct FlowLockedError: Error, CustomStringConvertible {
  /// The name of the flow.
  public let flow: String
  let holder: FlowLockHolder?
  /// The number of the process that runs it; nil if it is unknown.
  public var process: Int32? { holder?.process }

  public var description: String {
    let detail = holder.map { " (pid \($0.process) since \(Date(milliseconds: $0.began).time))" }
    return "run lock: '\(flow)' is already running\(detail ?? "")"
  }
}
