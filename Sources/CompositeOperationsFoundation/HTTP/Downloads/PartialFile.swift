internal import CompositeOperations
internal import Foundation
internal import SystemFiles

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// The part of a file that has come, and what stands beside it.
///
/// `NAME.partial` has the bytes and `NAME.partial.json` says of what they are. The former is locked for as long as
/// it is written, against other downloads to the same place, of this process and of others. Only what is whole gets
/// the name. A destination that is no file (a device, a pipe) is written as it comes.
///
/// Whoever opened it uses it one call at a time, and calls ``finish()`` or ``leave()`` in the end, once.
struct PartialFile: Sendable {
  /// Where it is to be in the end.
  let path: String
  /// Whether bytes go to where they are to be in the end.
  let isDirect: Bool
  private let file: OpenFile
  /// The file that is replaced, whose owner and rights it gets; nil if there is none.
  private let old: FileStatus?

  private var partialPath: String { Self.partialPath(of: path) }
  private var recordPath: String { partialPath + ".json" }
  /// Where bytes are written.
  private var writtenPath: String { isDirect ? path : partialPath }

  private static func partialPath(of path: String) -> String { path + ".partial" }

  /// Opens and locks it.
  init(at path: String) throws(FileError) {
    self.path = path
    let (name, folder) = (FileName(path), OpenFolder.working)
    let kind = try? folder.status(of: name, followingLink: true).kind
    if kind == .folder {
      throw FileError(
        path, "cannot be written", because: "it is a folder. Use a path inside that folder.")
    }
    isDirect = kind == .other
    if isDirect {
      old = nil
      file = try Self.openedDirectly(path)
      return
    }
    // Not that of what a link points to, which stays.
    old = (try? folder.status(of: name)).flatMap { $0.kind == .file ? $0 : nil }
    file = try Self.locked(Self.partialPath(of: path), for: path)
    // Whoever may not read the old one may not read parts of the new one, whose group is another one as yet.
    if old != nil { fchmod(file.descriptor, 0o600) }
  }

  private static func openedDirectly(_ path: String) throws(FileError) -> OpenFile {
    do { return try OpenFile(path, O_WRONLY | OpenFile.withoutWaiting) } catch {
      if !error.isWithoutReader { throw FileError(path, "cannot be written", error) }
      throw FileError(
        path, "cannot be written", error,
        because: "no process has it open for reading. Start its reader first.")
    }
  }

  private static func locked(_ partial: String, for path: String) throws(FileError) -> OpenFile {
    while true {
      let flags = O_RDWR | O_CREAT | O_NOFOLLOW
      let file = try FileError.at(partial, "cannot be written") { () throws(SystemError) in
        try OpenFile(partial, flags, mode: 0o666)
      }
      if flock(file.descriptor, LOCK_EX | LOCK_NB) != 0 {
        let error = SystemError.last
        try? file.close()
        if error.code != EWOULDBLOCK { throw FileError(partial, "cannot be locked", error) }
        throw FileError(
          path, "is already being downloaded",
          because: "wait for that download, or use another path.")
      }
      let named = try? OpenFolder.working.status(of: FileName(partial))
      if let named, (try? file.status.identity) == named.identity { return file }
      // Between opening and locking another download has finished, and taken the file away.
      Self.release(file)
    }
  }

  /// What there is already.
  func plan(for url: URL) -> DownloadPlan {
    guard !isDirect, let status = try? file.status,
      let data = try? Data(contentsOf: URL(fileURLWithPath: recordPath)),
      let record = try? JSONDecoder().decode(DownloadRecord.self, from: data)
    else { return .whole }
    return DownloadPlan(offset: status.size, record: record, for: url)
  }

  /// Puts what comes behind what there is.
  func seek(to offset: Int) throws(FileError) {
    if isDirect { return }
    if lseek(file.descriptor, off_t(offset), SEEK_SET) < 0 {
      throw FileError(writtenPath, "cannot be written", .last)
    }
  }

  /// Drops what there is.
  ///
  /// - Parameter record: Of what the bytes are that come; nil if they cannot be resumed.
  func startAnew(_ record: DownloadRecord?) throws(FileError) {
    if isDirect { return }
    // The record goes first and comes last: it must never stand beside bytes of something else.
    remove(recordPath)
    if ftruncate(file.descriptor, 0) != 0 {
      throw FileError(writtenPath, "cannot be emptied", .last)
    }
    try seek(to: 0)
    guard let record else { return }
    do {
      try JSONEncoder().encode(record).write(to: URL(fileURLWithPath: recordPath))
    } catch {
      // Without it, the download cannot be resumed, and that is all.
      remove(recordPath)
    }
  }

  /// - Parameter isStopped: Asked before anything goes into a pipe or a device, and from time to time while that is
  ///   full: what is left is dropped then.
  /// - Throws: ``FileError``, or `CancellationError` if it was stopped.
  func write(_ bytes: Data, unless isStopped: () -> Bool) throws {
    do {
      try unsafe bytes.withUnsafeBytes { bytes in
        guard isDirect else { return try unsafe file.write(bytes) }
        try unsafe file.write(bytes) { if isStopped() { throw CancellationError() } }
      }
    } catch let error as SystemError {
      throw FileError(writtenPath, "cannot be written", error)
    }
  }

  /// Gives the file its name, after everything of it has reached the disk.
  func finish() throws(FileError) {
    defer { Self.release(file) }
    if isDirect { return }
    if let old {
      try FileError.at(writtenPath, "cannot be given the permissions of the old file") {
        () throws(SystemError) in
        // What comes from a server is not run as the owner of what it replaces.
        try file.takeRights(of: old, masking: 0o777)
      }
    }
    try FileError.at(writtenPath, "cannot be written") { () throws(SystemError) in
      try file.synchronize()
    }
    try FileError.at(path, "cannot be moved into place") { () throws(SystemError) in
      try FileSystem.rename(partialPath, to: path)
    }
    remove(recordPath)
    // The name is on the disk when the folder is; one that may not be read cannot be asked for that.
    let name = path.splitPath.folder
    guard let folder = try? OpenFolder(name, followingLink: true) else { return }
    defer { folder.close() }
    try FileError.at(name, "cannot be written") { () throws(SystemError) in
      try folder.file.synchronize()
    }
  }

  /// Ends without the whole. What cannot be resumed is removed.
  func leave() {
    if !isDirect, unsafe access(recordPath, F_OK) != 0 { remove(partialPath) }
    Self.release(file)
  }

  /// Closes the file and gives up its lock, at once: closing alone would leave that to a program that is being
  /// started somewhere in this process, for as long as it has a copy of every descriptor.
  private static func release(_ file: OpenFile) {
    flock(file.descriptor, LOCK_UN)
    try? file.close()
  }

  private func remove(_ path: String) { try? OpenFolder.working.removeFile(FileName(path)) }
}
