internal import CProcesses
package import CompositeOperations

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// What the system does with whole paths.
package enum FileSystem {
  /// Gives a file another name, which is taken from what has it.
  package static func rename(_ path: String, to other: String) throws(SystemError) {
    if systemRename(path, other) != 0 { throw .last }
  }

  /// Gives a file or a folder another name, unless there is something of that name.
  package static func renameIfFree(_ path: String, to other: String) throws(SystemError) {
    let code = unsafe file_rename_if_free(path, other)
    if code == 0 { return }
    // Some file systems, and systems, cannot.
    guard code == EINVAL || code == ENOSYS || code == ENOTSUP else { throw SystemError(code: code) }
    if unsafe linkat(AT_FDCWD, path, AT_FDCWD, other, 0) == 0 {
      do { return try OpenFolder.working.removeFile(FileName(path)) } catch {
        // Whoever may not remove the old name has moved nothing.
        try? OpenFolder.working.removeFile(FileName(other))
        throw error
      }
    }
    if errno == EEXIST { throw .exists }
    // It is a folder, which takes the name of an empty folder only; or there are no links, and nothing is left
    // but to look first.
    var status = stat()
    if unsafe lstat(other, &status) == 0 { throw .exists }
    try rename(path, to: other)
  }

  /// The path that symbolic links at the end of a path lead to, and what is there.
  ///
  /// Only the last name is looked at: the system follows the others itself.
  package static func followed(_ path: String) throws(SystemError) -> (
    path: String, status: FileStatus?
  ) {
    var path = path
    // As many as Linux follows.
    for _ in 0...40 {
      let name = FileName(path)
      let status: FileStatus
      do { status = try OpenFolder.working.status(of: name) } catch {
        if error.isMissing { return (path, nil) }
        throw error
      }
      if status.kind != .link { return (path, status) }
      // What a process has open the system finds by a name that is none, such as pipe:[4711].
      if let end = try? self.status(path), end.kind != .file, end.kind != .folder {
        return (path, end)
      }
      let target = try OpenFolder.working.target(ofLink: name)
      guard let text = target.exactText else { throw SystemError(code: EILSEQ) }
      path = text.utf8.first == UInt8(ascii: "/") ? text : path.splitPath.folder + text
    }
    throw SystemError(code: ELOOP)
  }

  /// Whether two paths lead to the same folder or file.
  static func areSame(_ one: String, _ other: String) -> Bool {
    guard let one = try? status(one).identity, let other = try? status(other).identity else {
      return false
    }
    return one == other
  }

  /// Whether something lies in a folder, at whatever depth.
  ///
  /// - Parameters:
  ///   - path: It need not be there, but its folder is.
  ///   - folder: The folder.
  package static func contains(_ path: String, in folder: FileStatus.Identity) throws(SystemError)
    -> Bool
  {
    var outer = path.splitPath.folder
    var identity = try status(outer).identity
    while true {
      if identity == folder { return true }
      outer = outer.path(of: "..")
      // Where nobody may look, nothing can be said.
      guard let next = try? status(outer).identity, next != identity else { return false }
      identity = next
    }
  }

  /// Whether two paths to the same file are two names of it. In some file systems they may be one name, in small
  /// letters and in capitals.
  package static func areTwoNames(_ one: String, _ other: String) throws -> Bool {
    let (one, other) = (one.splitPath, other.splitPath)
    if try status(one.folder).identity != status(other.folder).identity { return true }
    let wanted = [FileName(one.name).bytes, FileName(other.name).bytes]
    if wanted[0] == wanted[1] { return false }
    let folder = try OpenFolder(one.folder, followingLink: true)
    defer { folder.close() }
    let names = Set(try folder.names {}.map(\.bytes))
    return names.isSuperset(of: wanted)
  }

  /// Whether names may be made and removed in a folder.
  package static func mayChange(_ folder: String) -> Bool {
    unsafe faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) == 0
  }

  /// - Throws: The error of the system if this process may not read a file.
  package static func checkReading(_ path: String) throws(SystemError) {
    if unsafe faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) != 0 { throw .last }
  }

  private static func status(_ path: String) throws(SystemError) -> FileStatus {
    try OpenFolder.working.status(of: FileName(path), followingLink: true)
  }
}

// A function of the system, whose name a method has too.
private func systemRename(_ path: String, _ other: String) -> Int32 { unsafe rename(path, other) }
