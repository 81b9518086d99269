import Foundation
import SystemSupport

/// The folder of a flow file, where its commands run, and the folder for its state.
package struct FlowFolder: Sendable {
  /// The absolute path of the folder that contains the flow file.
  let path: String
  /// The absolute path of the folder for the state.
  let state: String
  /// Whether it is the default folder.
  let isBesideFile: Bool
  private let logs: FlowLogFolder

  /// - Parameters:
  ///   - file: The path of the flow file.
  ///   - flow: The name of the flow.
  ///   - state: The path of the folder for the state, relative to the working folder; nil for
  ///     `.flow/<flow>` beside the file.
  package init(ofFile file: String, flow: String, state: String? = nil) {
    path = Self.path(ofFile: file)
    let folder = state.map { Self.absolutePath($0) } ?? path.path(of: ".flow/\(flow)")
    self.state = FlowStateFile.folder(of: folder.path(of: Self.databaseName))
    isBesideFile = state == nil
    logs = FlowLogFolder(inState: self.state)
  }

  /// The absolute path of the folder of a flow file.
  static func path(ofFile file: String) -> String {
    let folder = String(absolutePath(file).splitPath.folder.dropLast())
    return folder.isEmpty ? "/" : folder
  }

  /// Returns the absolute path of a file, relative to the working folder, without `..`.
  static func absolutePath(_ file: String) -> String {
    guard file.pathNames.contains(where: { $0.elementsEqual("..".utf8) }) else {
      return URL(fileURLWithPath: file).standardizedFileURL.path
    }
    // The folder above a link of a folder is not the folder of the link.
    var paths = FlowPaths(in: FileManager.default.currentDirectoryPath)
    let (folder, name) = file.splitPath
    return "\(paths.followingLinks(folder))/\(name)"
  }

  private static let databaseName = "state.sqlite"

  /// The file of the state.
  package var database: String { state.path(of: Self.databaseName) }

  /// The file whose lock a process has while it begins a run.
  var beginningLock: String { state.path(of: "run.lock") }

  /// The file whose lock the process of a run has.
  func lock(ofRun run: Int) -> String { logs.lock(ofRun: run) }

  /// Whether a process has the lock of a run.
  func isRunning(_ run: Int) -> Bool { FileLock.isHeld(lock(ofRun: run)) }

  /// Whether the folder has the journal of an earlier version.
  var hasFormerJournal: Bool { !FileSystem.isMissing(state.path(of: "journal.sqlite")) }

  /// The runs that may have a lock.
  ///
  /// - Throws: A failure that names the folder of the logs.
  var lockedRuns: [Int] {
    get throws(FlowFailure) { try logs.runsOrFailure() }
  }

  /// The runs that have logs.
  var runs: [Int] { logs.runs }

  /// Returns the log of a step or a child in a run.
  ///
  /// - Parameter secrets: What the log does not have.
  func log(of name: String, inRun run: Int, hiding secrets: FlowSecrets) -> FlowLog {
    FlowLog(logs.log(of: name, inRun: run), hiding: secrets)
  }

  /// Returns the path of the log of a step or a child in a run.
  func path(ofLog name: String, inRun run: Int) -> String { logs.log(of: name, inRun: run) }

  /// Returns the absolute path of a file that a step with a working folder names.
  func path(of file: String, in directory: String?) -> String {
    if file.hasPrefix("/") { return file }
    guard let directory else { return path.path(of: file) }
    return workingFolder(directory).path(of: file)
  }

  /// Returns the absolute path of the working folder of a step.
  func workingFolder(_ directory: String?) -> String {
    guard let directory else { return path }
    return directory.hasPrefix("/") ? directory : path.path(of: directory)
  }

  /// Creates the folder for the state.
  ///
  /// - Throws: A failure that names the folder.
  func make() throws(FlowFailure) { try Self.make(state) }

  /// Creates the folder for the logs of a run, and removes those of other runs.
  ///
  /// - Parameter keeps: Whether the logs of a run are kept.
  /// - Throws: A failure that names the folder.
  func makeLogs(ofRun run: Int, keeping keeps: (Int) -> Bool = { _ in true }) throws(FlowFailure) {
    for other in logs.runs where other != run && !keeps(other) {
      // They are removed with the next run otherwise.
      try? FileManager.default.removeItem(atPath: logs.path(ofRun: other))
    }
    try Self.make(logs.path(ofRun: run))
  }

  private static func make(_ folder: String) throws(FlowFailure) {
    do {
      // The logs are as private as the state.
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch {
      let cause = ((error as NSError).userInfo[NSUnderlyingErrorKey] as? any Error) as NSError?
      let reason =
        cause?.domain == NSPOSIXErrorDomain
        ? cause.map { SystemError(code: Int32(clamping: $0.code)).description } : nil
      throw .other(
        "the folder \(folder.onOneLine) cannot be made: \(reason ?? "\(error)"); "
          + "--state FOLDER puts the state elsewhere")
    }
  }

  /// The name of the log of a step or a child in the folder of a run.
  package static func logName(of name: String) -> String { fileName(name) + ".log" }

  /// The name of a step or a child as the name of a file: at most 200 bytes, without slashes.
  static func fileName(_ name: String) -> String {
    let bytes = Array(name.utf8)
    var text = ""
    for byte in bytes {
      let isSafe =
        byte > 0x20 && byte != 0x7F && byte != UInt8(ascii: "/")
        && byte != UInt8(ascii: "%")
      text +=
        isSafe && byte < 0x80
        ? String(UnicodeScalar(byte))
        : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
    }
    if text.utf8.count <= 200 { return text }
    return text.prefix(170) + "~" + String(bytes.hash64, radix: 16)
  }
}

/// The folder with the logs of all runs of a flow, `runs/<run>/<step>.log`.
package struct FlowLogFolder: Sendable {
  /// The name of the folder in the folder of the state.
  package static let name = "runs"

  private let path: String

  /// - Parameter state: The path of the folder of the state.
  package init(inState state: String) { path = state.path(of: Self.name) }

  /// The numbers of the runs that have a folder.
  var runs: [Int] {
    ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).compactMap(Int.init)
  }

  fileprivate func runsOrFailure() throws(FlowFailure) -> [Int] {
    do {
      return try FileManager.default.contentsOfDirectory(atPath: path).compactMap(Int.init)
    } catch {
      if FileSystem.isMissing(path) { return [] }
      throw .other(
        "\(path.onOneLine) cannot be read, so it is unknown which runs are in progress: \(error)")
    }
  }

  package func path(ofRun run: Int) -> String { path.path(of: "\(run)") }

  /// The file whose lock the process of a run has. The names of logs end in `.log`.
  func lock(ofRun run: Int) -> String { path(ofRun: run).path(of: "lock") }

  package func log(of name: String, inRun run: Int) -> String {
    path(ofRun: run).path(of: FlowFolder.logName(of: name))
  }
}
