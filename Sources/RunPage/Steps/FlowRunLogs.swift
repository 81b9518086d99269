import FlowFiles
import SystemSupport

/// The logs of a run of a flow file.
///
/// Their names follow from the names of the steps. If the folder `logs` or a log is a symbolic link, it is
/// not followed.
final class FlowRunLogs: Sendable {
  /// Why a log is not shown.
  enum Problem: Error {
    /// The step has written none in this run, or it is no longer kept.
    case noLog
    /// The folder is not on this machine.
    case noFolder
    case link
    case other(SystemError)
  }

  private let folder: FlowFolder
  private let opened: Result<OpenFolder, Problem>
  /// When processes worked on the run, in milliseconds since 1970.
  private let times: [Range<Int64>]

  init(in folder: FlowFolder, writtenIn times: [Range<Int64>]) {
    self.folder = folder
    self.times = times
    opened = Self.opened(folder)
  }

  deinit { try? opened.get().close() }

  private static func opened(_ folder: FlowFolder) -> Result<OpenFolder, Problem> {
    do throws(SystemError) {
      let storage = try OpenFolder(folder.storage, followingLink: true)
      defer { storage.close() }
      let name = FileName("logs")
      if try storage.status(of: name).kind == .link { return .failure(.link) }
      return .success(try storage.folder(name))
    } catch {
      return .failure(error.isMissing ? .noFolder : .other(error))
    }
  }

  /// The path of the log of the last run of the flow, for people.
  func path(of unit: String) -> String { folder.log(of: unit) }

  /// Returns the number of bytes of a log.
  func size(of unit: String) throws(Problem) -> Int { try find(unit).status.size }

  /// Opens a log. The caller closes it.
  func open(_ unit: String) throws(Problem) -> (file: FileDescriptor, size: Int) {
    let folder = try opened.get()
    // Another run may move the file aside before it is open.
    for _ in 0..<FlowLog.runs {
      let name = try find(unit).name
      do throws(SystemError) {
        // A link or a pipe may have replaced it.
        let file = try folder.open(name, .readOnly, [.noFollow, .nonBlocking])
        if let status = try? file.status, isOwn(status) { return (file, status.size) }
        try? file.close()
      } catch { if !error.isMissing { throw .other(error) } }
    }
    throw .noLog
  }

  /// Whether it is a file that the run has written last.
  private func isOwn(_ status: FileStatus) -> Bool {
    let time = status.modified.seconds * 1_000 + status.modified.nanoseconds / 1_000_000
    return status.kind == .file && times.contains { $0.contains(time) }
  }

  /// Finds the file that the run has written last: a later run moves it aside.
  private func find(_ unit: String) throws(Problem) -> (name: FileName, status: FileStatus) {
    let folder = try opened.get()
    let log = FlowLog(FlowFolder.logName(of: unit))
    for index in 0..<FlowLog.runs {
      let name = FileName(log.path(ofRun: index))
      let status: FileStatus
      do throws(SystemError) { status = try folder.status(of: name) } catch {
        if error.isMissing { continue }
        throw .other(error)
      }
      if status.kind == .link { throw .link }
      if isOwn(status) { return (name, status) }
    }
    throw .noLog
  }
}

extension FlowRunLogs.Problem: CustomStringConvertible {
  var description: String {
    switch self {
    case .noLog: "no log of this run is kept"
    case .noFolder: "the folder of the logs is not on this machine"
    case .link: "the log is a symbolic link, which the page does not follow"
    case .other(let error): "the log cannot be read: \(error)"
    }
  }
}
