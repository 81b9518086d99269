import FlowFiles
import SystemSupport

/// The logs of a run of a flow file.
///
/// Their names follow from the names of the steps. If a folder or a log is a symbolic link, it is not
/// followed.
final class FlowRunLogs: Sendable {
  /// Why a log is not shown.
  enum Problem: Error {
    /// The step has written none in this run, or it is no longer kept.
    case noLog
    /// The folder is not on this machine.
    case noFolder
    case link
    case other(SystemError)

    fileprivate init(_ error: SystemError) {
      self =
        switch error {
        case .tooManySymbolicLinkLevels: .link
        case _ where error.isMissing: .noLog
        default: .other(error)
        }
    }
  }

  private let folder: FlowLogFolder
  private let run: Int
  private let opened: Result<OpenFolder, Problem>

  /// - Parameter state: The path of the folder of the state.
  init(ofRun run: Int, inState state: String) {
    self.run = run
    folder = FlowLogFolder(inState: state)
    opened = Result { () throws(Problem) in try Self.opened(run, state) }
  }

  deinit { try? opened.get().close() }

  private static func opened(_ run: Int, _ state: String) throws(Problem) -> OpenFolder {
    let runs: OpenFolder
    do throws(SystemError) {
      let state = try OpenFolder(state, followingLink: true)
      defer { state.close() }
      runs = try child(FlowLogFolder.name, of: state)
    } catch { throw error.isMissing ? .noFolder : Problem(error) }
    defer { runs.close() }
    do throws(SystemError) { return try child("\(run)", of: runs) } catch { throw Problem(error) }
  }

  private static func child(
    _ name: String, of folder: OpenFolder
  ) throws(SystemError) -> OpenFolder {
    let name = FileName(name)
    if try folder.status(of: name).kind == .link { throw .tooManySymbolicLinkLevels }
    return try folder.folder(name)
  }

  /// The path of a log, for people.
  func path(of unit: String) -> String { folder.log(of: unit, inRun: run) }

  /// Returns the number of bytes of a log.
  func size(of unit: String) throws(Problem) -> Int {
    let folder = try opened.get()
    let status: FileStatus
    do throws(SystemError) { status = try folder.status(of: Self.name(of: unit)) } catch {
      throw Problem(error)
    }
    switch status.kind {
    case .file: return status.size
    case .link: throw .link
    case .folder, .other: throw .noLog
    }
  }

  /// Opens a log. The caller closes it.
  func open(_ unit: String) throws(Problem) -> (file: FileDescriptor, size: Int) {
    let folder = try opened.get()
    do throws(SystemError) {
      // A link or a pipe may have replaced it.
      let file = try folder.open(Self.name(of: unit), .readOnly, [.noFollow, .nonBlocking])
      let status = try? file.status
      if let status, status.kind == .file { return (file, status.size) }
      try? file.close()
    } catch { throw Problem(error) }
    throw .noLog
  }

  private static func name(of unit: String) -> FileName { FileName(FlowFolder.logName(of: unit)) }
}

extension FlowRunLogs.Problem: CustomStringConvertible {
  var description: String {
    switch self {
    case .noLog: "the step has no log in this run, or it is not kept any more"
    case .noFolder: "the folder of the logs is not on this machine"
    case .link: "the log is a symbolic link, which the page does not follow"
    case .other(let error): "the log cannot be read: \(error)"
    }
  }
}
