internal import CProcesses

/// File system operations on whole paths.
package enum FileSystem {
  /// Renames a file. An existing file with the new name is replaced.
  package static func rename(_ path: String, to other: String) throws(SystemError) {
    if systemRename(path, other) != 0 { throw .last }
  }

  /// Renames a file or a folder, unless the new name exists.
  package static func renameIfFree(_ path: String, to other: String) throws(SystemError) {
    let code = unsafe file_rename_if_free(path, other)
    if code == 0 { return }
    // Not every file system and every system supports this.
    guard code == EINVAL || code == ENOSYS || code == ENOTSUP else { throw SystemError(code: code) }
    if unsafe linkat(AT_FDCWD, path, AT_FDCWD, other, 0) == 0 {
      do { return try OpenFolder.working.removeFile(FileName(path)) } catch {
        // Without the right to remove the old name, nothing is moved.
        try? OpenFolder.working.removeFile(FileName(other))
        throw error
      }
    }
    if errno == EEXIST { throw .fileExists }
    // A folder can replace an empty folder only, or hard links are not supported. In both cases the
    // only way left is to check for the new name first.
    var status = stat()
    if unsafe lstat(other, &status) == 0 { throw .fileExists }
    try rename(path, to: other)
  }

  /// Returns the path after following the symbolic links at its end, with the status of the file
  /// there.
  ///
  /// Only the last name is followed here: the system follows links in the other names itself.
  package static func followed(_ path: String) throws(SystemError) -> (
    path: String, status: FileStatus?
  ) {
    var path = path
    // The number of links that Linux follows.
    for _ in 0...40 {
      let name = FileName(path)
      let status: FileStatus
      do { status = try OpenFolder.working.status(of: name) } catch {
        if error.isMissing { return (path, nil) }
        throw error
      }
      if status.kind != .link { return (path, status) }
      // Open files of a process can have a target that is not a path, such as pipe:[4711].
      if let end = try? self.status(path), end.kind != .file, end.kind != .folder {
        return (path, end)
      }
      let target = try OpenFolder.working.target(ofLink: name)
      guard let text = target.exactText else { throw .illegalByteSequence }
      path = text.utf8.first == UInt8(ascii: "/") ? text : path.splitPath.folder + text
    }
    throw .tooManySymbolicLinkLevels
  }

  /// Returns whether two paths refer to the same file or folder.
  package static func areSame(_ one: String, _ other: String) -> Bool {
    guard let one = try? status(one).identity, let other = try? status(other).identity else {
      return false
    }
    return one == other
  }

  /// Returns whether a path is in a folder, at any depth.
  ///
  /// - Parameters:
  ///   - path: A path that need not exist, in a folder that exists.
  ///   - folder: The identity of the folder.
  package static func contains(_ path: String, in folder: FileStatus.Identity) throws(SystemError)
    -> Bool
  {
    var outer = path.splitPath.folder
    var identity = try status(outer).identity
    while true {
      if identity == folder { return true }
      outer = outer.path(of: "..")
      // Without permission to look further up, the answer is unknown.
      guard let next = try? status(outer).identity, next != identity else { return false }
      identity = next
    }
  }

  /// Returns whether two paths to the same file are two names of it. On some file systems they can
  /// be one name in upper and lower case.
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

  /// A way to use a file or a folder.
  package struct Access: OptionSet, Sendable {
    package let rawValue: Int32

    package init(rawValue: Int32) { self.rawValue = rawValue }

    package static let reading = Access(rawValue: R_OK)
    package static let writing = Access(rawValue: W_OK)
    package static let execution = Access(rawValue: X_OK)
    /// Creating, renaming and removing names in a folder.
    package static let changingNames: Access = [.writing, Access(rawValue: X_OK)]
  }

  /// Checks that this process may use a file, by its effective user and group.
  ///
  /// - Throws: The system's error if it may not.
  package static func check(_ access: Access, to path: String) throws(SystemError) {
    if unsafe faccessat(AT_FDCWD, path, access.rawValue, AT_EACCESS) != 0 { throw .last }
  }

  /// Returns whether this process may use a file, by its effective user and group.
  package static func allows(_ access: Access, to path: String) -> Bool {
    (try? check(access, to: path)) != nil
  }

  /// Returns whether no file has a path, or the target of a symbolic link with that path is missing.
  package static func isMissing(_ path: String) -> Bool {
    do throws(SystemError) { try check([], to: path) } catch {
      return error == .noSuchFileOrDirectory
    }
    return false
  }

  /// Returns whether a path is mounted read-only.
  ///
  /// On Linux, the same disk can be mounted for writing elsewhere. On Darwin, the result is true only
  /// for local disks.
  package static func isMountedReadOnly(_ path: String) -> Bool {
    #if canImport(Darwin)
      var system = statfs()
      guard unsafe statfs(path, &system) == 0 else { return false }
      let flags = UInt32(MNT_RDONLY) | UInt32(MNT_LOCAL)
      return system.f_flags & flags == flags
    #else
      var system = statvfs()
      return unsafe statvfs(path, &system) == 0 && UInt(system.f_flag) & UInt(ST_RDONLY) != 0
    #endif
  }

  #if canImport(Darwin)
    /// Returns the type of the file system of a path if it is on another machine; nil otherwise.
    package static func networkType(of path: String) -> String? {
      var system = statfs()
      guard unsafe statfs(path, &system) == 0, system.f_flags & UInt32(MNT_LOCAL) == 0 else {
        return nil
      }
      return unsafe withUnsafeBytes(of: system.f_fstypename) { bytes in
        unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
    }
  #endif

  private static func status(_ path: String) throws(SystemError) -> FileStatus {
    try OpenFolder.working.status(of: FileName(path), followingLink: true)
  }
}

// The system's function, because a method has the same name.
private func systemRename(_ path: String, _ other: String) -> Int32 { unsafe rename(path, other) }
