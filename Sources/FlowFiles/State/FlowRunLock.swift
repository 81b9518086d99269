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
    for run in try folder.lockedRuns {
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
    while FileLock.isHeld(path) {
      guard let holder = FlowRunHolder(readFrom: path) else {
        // It may have ended in the meantime.
        if !FileLock.isHeld(path) { return nil }
        throw FlowFailure.other(
          "\(path.onOneLine) cannot be read, so it is unknown which files this run in progress uses"
        )
      }
      // A process that is killed while it starts a command leaves a copy of itself, which has the lock
      // until the program of the command is loaded.
      if holder.isAlive || ContinuousClock.now > begin + .seconds(5) { return holder }
      try await Task.sleep(for: .milliseconds(5))
    }
    return nil
  }

  /// Takes the lock of a run, unless this process has it.
  ///
  /// - Parameter files: The files that other runs must not use.
  func hold(_ run: FlowRunRecord, with files: FlowRunFiles = FlowRunFiles()) async throws {
    let path = folder.lock(ofRun: run.number)
    if locks.withLock({ $0.contains { $0.path == path } }) { return }
    try folder.makeLogs(ofRun: run.number)
    while true {
      // Only processes that ask whether the run is in progress have it now.
      if let lock = try FileLock.acquire(path, creating: true) {
        try FlowRunHolder(run: run.number, name: run.name, files: files).write(to: path)
        return locks.withLock { $0.append(lock) }
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
  var process = ProcessInfo.processInfo.processIdentifier
  /// Milliseconds since 1970.
  var began = FlowStepRecord.now
  var files = FlowRunFiles()

  init(run: Int = 0, name: String? = nil, files: FlowRunFiles = FlowRunFiles()) {
    (self.run, self.name, self.files) = (run, name, files)
  }

  /// Nil if the process has not written it yet.
  fileprivate init?(readFrom path: String) {
    guard let bytes = try? FileDescriptor.contents(ofFile: path),
      let holder = try? JSONDecoder().decode(FlowRunHolder.self, from: Data(bytes))
    else { return nil }
    self = holder
  }

  /// Whether the process exists.
  fileprivate var isAlive: Bool {
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
  /// The number of the process that runs it.
  public var process: Int32 { holder.process }

  /// - Parameter file: See ``file``.
  init(flow: String, file: String? = nil, holder: FlowRunHolder) {
    (self.flow, self.file, self.holder) = (flow, file, holder)
  }

  public var description: String {
    let name = holder.name.map { " (\($0))" } ?? ""
    let detail = " (pid \(process) since \(Date(milliseconds: holder.began).time))"
    if let file {
      return "run lock: run \(holder.run)\(name) of '\(flow)' is in progress\(detail), and uses "
        + "\(file.onOneLine), too; run this one after its end, or with other outputs"
    }
    let run = holder.name.map { "run '\($0)' of " } ?? ""
    return "run lock: \(run)'\(flow)' is already running\(detail)"
  }
}
