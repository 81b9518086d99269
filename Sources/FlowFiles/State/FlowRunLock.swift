import CompositeOperations
import Foundation
import SystemSupport

/// The locks of a run: the one of beginnings, which a process has while it decides what to run, and then
/// the one of the run. The system releases them when the process ends, however it ends.
final class FlowRunLock: Sendable {
  /// The other runs in progress when this one begins.
  let others: [FlowRunHolder]
  private let folder: FlowFolder
  private let locks: Lock<[FileLock]>

  /// Waits while another process begins a run.
  ///
  /// - Parameter onWait: Called once if that takes longer than a second, with the process if it is known.
  /// - Throws: The error of the system; `CancellationError`.
  init(in folder: FlowFolder, onWait: (Int32?) -> Void) async throws {
    self.folder = folder
    let path = folder.beginningLock
    let begin = ContinuousClock.now
    var isReported = false
    while true {
      if let lock = try FileLock.acquire(path, creating: true) {
        locks = Lock([lock])
        break
      }
      if !isReported, ContinuousClock.now > begin + .seconds(1) {
        isReported = true
        onWait(FlowRunHolder(readFrom: path)?.process)
      }
      try await Task.sleep(for: .milliseconds(5))
    }
    try FlowRunHolder().write(to: path)
    var others: [FlowRunHolder] = []
    for run in folder.runs {
      if let other = try await Self.holder(ofRun: run, in: folder) { others.append(other) }
    }
    self.others = others
  }

  /// The numbers of the other runs.
  var otherRuns: Set<Int> { Set(others.map(\.run)) }

  /// Returns the process that has the lock of a run; nil if none has it.
  private static func holder(
    ofRun run: Int, in folder: FlowFolder
  ) async throws -> FlowRunHolder? {
    let path = folder.lock(ofRun: run)
    let begin = ContinuousClock.now
    // A process that is killed while it starts a command leaves a copy of itself, which has the lock
    // until the program of the command is loaded. And a process that asks whether the run is in progress
    // has it for a short time.
    while FileLock.isHeld(path) {
      let holder = FlowRunHolder(readFrom: path) ?? FlowRunHolder(run: run, process: nil)
      let limit: Duration = holder.isAlive ? .milliseconds(50) : .seconds(5)
      if ContinuousClock.now > begin + limit { return holder }
      try await Task.sleep(for: .milliseconds(5))
    }
    return nil
  }

  /// Takes the lock of a run, also if this process already has it.
  func hold(_ holder: FlowRunHolder) async throws {
    let path = folder.lock(ofRun: holder.run)
    if locks.withLock({ $0.contains { $0.path == path } }) { return }
    try folder.makeLogs(ofRun: holder.run)
    while true {
      // Only processes that ask whether the run is in progress have it now.
      if let lock = try FileLock.acquire(path, creating: true) {
        locks.withLock { $0.append(lock) }
        return try holder.write(to: path)
      }
      try await Task.sleep(for: .milliseconds(1))
    }
  }

  /// The folder of a run keeps only its logs.
  deinit {
    for lock in locks.withLock(\.self) where lock.path != folder.beginningLock { lock.removeFile() }
  }

  /// Other processes can begin runs from now on.
  func endBeginning() { locks.withLock { $0.removeAll { $0.path == folder.beginningLock } } }
}

/// The process that has a lock of a flow, as the file of the lock shows it.
struct FlowRunHolder: Codable, Sendable {
  /// The number of the run; 0 for a process that begins one.
  var run = 0
  /// The name of the run.
  var name: String?
  /// Nil if it is unknown.
  var process: Int32? = ProcessInfo.processInfo.processIdentifier
  /// Milliseconds since 1970.
  var began = FlowStepRecord.now
  var files = FlowRunFiles()

  init(run: Int = 0, name: String? = nil, files: FlowRunFiles = FlowRunFiles()) {
    (self.run, self.name, self.files) = (run, name, files)
  }

  fileprivate init(run: Int, process: Int32?) { (self.run, self.process) = (run, process) }

  /// Nil if the process has not written it yet.
  fileprivate init?(readFrom path: String) {
    guard let bytes = try? FileDescriptor.contents(ofFile: path),
      let holder = try? JSONDecoder().decode(FlowRunHolder.self, from: Data(bytes))
    else { return nil }
    self = holder
  }

  /// Whether the process exists, or is unknown.
  fileprivate var isAlive: Bool {
    guard let process else { return true }
    guard SystemProcess.group(of: process) != nil else { return false }
    return ProcessTable.listed(process)?.isZombie != true
  }

  fileprivate func write(to path: String) throws {
    let bytes = try JSONEncoder().encode(self)
    let file = try FileDescriptor.open(path, .writeOnly, .truncate)
    defer { try? file.close() }
    try file.write(Array(bytes), brokenPipe: .error)
  }
}

/// The error of a run that is already in progress, in this process or in another one, or that would write
/// files that a run in progress uses.
public struct FlowLockedError: Error, CustomStringConvertible {
  /// The name of the flow.
  public let flow: String
  /// The file that both runs use; nil if they are the same run.
  public let file: String?
  private let holder: FlowRunHolder
  /// The number of the process that runs it; nil if it is unknown.
  public var process: Int32? { holder.process }

  /// - Parameter file: See ``file``.
  init(flow: String, file: String? = nil, holder: FlowRunHolder) {
    (self.flow, self.file, self.holder) = (flow, file, holder)
  }

  public var description: String {
    let name = holder.name.map { " (\($0))" } ?? ""
    let since = "since \(Date(milliseconds: holder.began).time)"
    let detail = holder.process.map { " (pid \($0) \(since))" } ?? ""
    if let file {
      return "run lock: run \(holder.run)\(name) of '\(flow)' is in progress\(detail), and uses "
        + "\(file.onOneLine), too; expected other outputs, or its end"
    }
    let run = holder.name.map { "run '\($0)' of " } ?? ""
    return "run lock: \(run)'\(flow)' is already running\(detail)"
  }
}
