internal import CompositeOperations
internal import Foundation
internal import SystemSupport

/// A partially downloaded file, with the record beside it.
///
/// `NAME.partial` has the bytes, and `NAME.partial.json` identifies the whole. The former is locked
/// while it is written, against other downloads to the same destination in this process and in
/// others. Only a complete file gets the name. A destination that is a device or a pipe is written
/// directly.
///
/// The caller makes one call at a time, and finally calls ``finish()`` or ``abandon()``, once.
struct PartialFile: Sendable {
  /// The destination.
  let path: String
  /// Whether bytes are written directly to the destination.
  let isDirect: Bool
  private let file: FileDescriptor
  /// The file to replace, whose owner and permissions the new one gets; nil if there is none.
  private let old: FileStatus?

  private var partialPath: String { Self.partialPath(of: path) }
  private var recordPath: String { partialPath + ".json" }
  /// The path that bytes are written to.
  private var writtenPath: String { isDirect ? path : partialPath }

  private static func partialPath(of path: String) -> String { path + ".partial" }

  /// Opens and locks the file.
  init(at path: String) throws(FileError) {
    self.path = path
    let (name, folder) = (FileName(path), OpenFolder.working)
    let kind = try? folder.status(of: name, followingLink: true).kind
    if kind == .folder {
      throw FileError(
        path, "cannot be written", because: "it is a folder. Use the path of a file in that folder."
      )
    }
    isDirect = kind == .other
    if isDirect {
      old = nil
      file = try Self.openedDirectly(path)
      return
    }
    // Not the status of the target of a symbolic link, which stays.
    old = (try? folder.status(of: name)).flatMap { $0.kind == .file ? $0 : nil }
    file = try Self.locked(Self.partialPath(of: path), for: path)
    // Users who may not read the old file must not read parts of the new one, which does not have
    // the group of the old one yet.
    if old != nil { try? file.setPermissions(0o600) }
  }

  private static func openedDirectly(_ path: String) throws(FileError) -> FileDescriptor {
    do { return try .open(path, .writeOnly, .nonBlocking) } catch {
      if error != .noSuchAddressOrDevice { throw FileError(path, "cannot be written", error) }
      throw FileError(
        path, "cannot be written", error,
        because: "no process has it open for reading. Start its reader first.")
    }
  }

  private static func locked(_ partial: String, for path: String) throws(FileError)
    -> FileDescriptor
  {
    while true {
      let file = try FileError.at(partial, "cannot be written") { () throws(SystemError) in
        try FileDescriptor.open(partial, .readWrite, [.create, .noFollow])
      }
      do throws(FileError) {
        let isLocked = try FileError.at(partial, "cannot be locked") { () throws(SystemError) in
          try file.tryLock()
        }
        if !isLocked {
          throw FileError(
            path, "is already being downloaded",
            because: "wait for that download, or use another path.")
        }
      } catch {
        try? file.close()
        throw error
      }
      let named = try? OpenFolder.working.status(of: FileName(partial))
      if let named, (try? file.status.identity) == named.identity { return file }
      // Between opening and locking, another download has finished and renamed the file.
      Self.release(file)
    }
  }

  /// The plan for the existing part.
  func plan(for url: URL) -> DownloadPlan {
    guard !isDirect, let status = try? file.status,
      let data = try? Data(contentsOf: URL(fileURLWithPath: recordPath)),
      let record = try? JSONDecoder().decode(DownloadRecord.self, from: data)
    else { return .whole }
    return DownloadPlan(offset: status.size, record: record, for: url)
  }

  /// Continues to write at an offset.
  func seek(to offset: Int) throws(FileError) {
    if isDirect { return }
    try FileError.at(writtenPath, "cannot be written") { () throws(SystemError) in
      try file.seek(to: offset)
    }
  }

  /// Discards the existing part.
  ///
  /// - Parameter record: The record of the bytes that follow; nil if they cannot be resumed.
  func restart(_ record: DownloadRecord?) throws(FileError) {
    if isDirect { return }
    // The record is removed first and written last: it must never describe other bytes.
    remove(recordPath)
    try FileError.at(writtenPath, "cannot be emptied") { () throws(SystemError) in
      try file.truncate(to: 0)
    }
    try seek(to: 0)
    guard let record else { return }
    do {
      try JSONEncoder().encode(record).write(to: URL(fileURLWithPath: recordPath))
    } catch {
      // Without it, the download cannot be resumed, which is no error.
      remove(recordPath)
    }
  }

  /// - Parameter isStopped: Called before bytes are written to a pipe or a device, and repeatedly
  ///   while that is full. If it returns true, the rest is dropped.
  /// - Throws: ``FileError``, or `CancellationError` if it was stopped.
  func write(_ bytes: [UInt8], unless isStopped: () -> Bool) throws {
    do {
      try unsafe bytes.withUnsafeBytes { bytes in
        guard isDirect else { return try unsafe file.write(bytes) }
        try unsafe file.write(bytes) { if isStopped() { throw CancellationError() } }
      }
    } catch let error as SystemError {
      throw FileError(writtenPath, "cannot be written", error)
    }
  }

  /// Gives the file its name, after all of it is on disk.
  func finish() throws(FileError) {
    defer { Self.release(file) }
    if isDirect { return }
    if let old {
      try FileError.at(writtenPath, "cannot be given the permissions of the old file") {
        () throws(SystemError) in
        // A downloaded file must not run as the owner of the file that it replaces.
        try file.copyRights(from: old, masking: 0o777)
      }
    }
    try FileError.at(writtenPath, "cannot be written") { () throws(SystemError) in
      try file.synchronize()
    }
    try FileError.at(path, "cannot be moved into place") { () throws(SystemError) in
      try FileSystem.rename(partialPath, to: path)
    }
    remove(recordPath)
    // The rename is on disk when the folder is synchronized, which is impossible for an unreadable
    // folder.
    let name = path.splitPath.folder
    guard let folder = try? OpenFolder(name, followingLink: true) else { return }
    defer { folder.close() }
    try FileError.at(name, "cannot be written") { () throws(SystemError) in
      try folder.descriptor.synchronize()
    }
  }

  /// Closes the incomplete file. Removes it if it cannot be resumed.
  func abandon() {
    if !isDirect, FileSystem.isMissing(recordPath) { remove(partialPath) }
    Self.release(file)
  }

  /// Unlocks and closes the file. Closing alone would not unlock it while another thread starts a
  /// program, which has a copy of every descriptor until it begins to run.
  private static func release(_ file: FileDescriptor) {
    file.unlock()
    try? file.close()
  }

  private func remove(_ path: String) { try? OpenFolder.working.removeFile(FileName(path)) }
}
