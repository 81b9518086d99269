internal import CProcesses

/// An open folder, with operations on the paths in it. It must be closed exactly once.
///
/// Symbolic links in the last name of a path are followed only on request. A path may be longer than
/// the system allows: then the folders on it are opened one after another.
package struct OpenFolder: Sendable {
  package let descriptor: FileDescriptor

  /// The working folder, in which whole paths are resolved. It is not closed.
  package static let working = OpenFolder(descriptor: FileDescriptor(rawValue: AT_FDCWD))

  private init(descriptor: FileDescriptor) { self.descriptor = descriptor }

  package init(_ path: String, followingLink: Bool = false) throws(SystemError) {
    self = try Self.working.folder(FileName(path), followingLink: followingLink)
  }

  package func open(
    _ name: FileName, _ mode: FileDescriptor.AccessMode,
    _ options: FileDescriptor.OpenOptions = [], permissions: FilePermissions = 0o666
  ) throws(SystemError) -> FileDescriptor {
    let access =
      switch mode {
      case .readOnly: O_RDONLY
      case .writeOnly: O_WRONLY
      case .readWrite: O_RDWR
      }
    let flags = access | options.rawValue | O_CLOEXEC
    return FileDescriptor(
      rawValue: try call(name) { folder, name in
        unsafe openat(folder, name, flags, mode_t(permissions.rawValue))
      })
  }

  package func folder(
    _ name: FileName, followingLink: Bool = false
  ) throws(SystemError) -> OpenFolder {
    let options: FileDescriptor.OpenOptions =
      followingLink ? .directory : [.directory, .noFollow]
    return OpenFolder(descriptor: try open(name, .readOnly, options))
  }

  package func status(
    of name: FileName, followingLink: Bool = false
  ) throws(SystemError) -> FileStatus {
    var status = stat()
    let flags = followingLink ? 0 : AT_SYMLINK_NOFOLLOW
    try call(name) { folder, name in unsafe fstatat(folder, name, &status, flags) }
    return FileStatus(status)
  }

  package func removeFile(_ name: FileName) throws(SystemError) {
    try call(name) { folder, name in unsafe unlinkat(folder, name, 0) }
  }

  package func removeFolder(_ name: FileName) throws(SystemError) {
    try call(name) { folder, name in unsafe unlinkat(folder, name, AT_REMOVEDIR) }
  }

  /// Creates a folder that only its owner can access.
  package func makeFolder(_ name: FileName) throws(SystemError) {
    try call(name) { folder, name in unsafe mkdirat(folder, name, 0o700) }
  }

  package func target(ofLink name: FileName) throws(SystemError) -> FileName {
    // The maximum length on all systems.
    let size = 4_096
    var target = [CChar](repeating: 0, count: size)
    let count = try call(name) { folder, name in
      Int32(truncatingIfNeeded: unsafe readlinkat(folder, name, &target, size))
    }
    return FileName(target.prefix(Int(count)).map { UInt8(bitPattern: $0) })
  }

  /// Renames a file in the folder. An existing file with the new name is replaced.
  package func rename(_ name: FileName, to other: FileName) throws(SystemError) {
    let folder = descriptor.rawValue
    if unsafe renameat(folder, name.bytes, folder, other.bytes) != 0 { throw .last }
  }

  /// Gives a file a second name, unless the name exists.
  package func link(_ name: FileName, as other: FileName) throws(SystemError) {
    let folder = descriptor.rawValue
    if unsafe linkat(folder, name.bytes, folder, other.bytes, 0) != 0 { throw .last }
  }

  /// Makes a symbolic link.
  ///
  /// - Parameter status: The status whose owner and times the link gets, as far as the system
  ///   allows.
  package func makeLink(
    _ name: FileName, to target: FileName, like status: FileStatus
  ) throws(SystemError) {
    try call(name) { folder, name in unsafe symlinkat(target.bytes, folder, name) }
    let flags = AT_SYMLINK_NOFOLLOW
    _ = try? call(name) { folder, name in
      unsafe fchownat(folder, name, status.owner, status.group, flags)
    }
    var times = [timespec(status.accessed), timespec(status.modified)]
    _ = try? call(name) { folder, name in unsafe utimensat(folder, name, &times, flags) }
  }

  /// Returns the names in the folder, sorted.
  ///
  /// - Parameter check: Called first and then for every name. It throws to stop reading.
  package func names(_ check: () throws -> Void) throws -> [FileName] {
    try check()
    var names: [FileName] = []
    try forEachName { name, _ in
      try check()
      names.append(name)
    }
    return names.sorted(by: FileName.precedes)
  }

  /// Calls a function for every name in the folder, in the order of the system.
  ///
  /// - Parameter body: Receives the name and the kind of its file; nil if the folder does not store
  ///   the kind. It throws to stop reading.
  package func forEachName(_ body: (FileName, FileStatus.Kind?) throws -> Void) throws {
    let copy = fcntl(descriptor.rawValue, F_DUPFD_CLOEXEC, 0)
    guard copy >= 0 else { throw SystemError.last }
    guard let stream = unsafe fdopendir(copy) else {
      let error = SystemError.last
      try? FileDescriptor(rawValue: copy).close()
      throw error
    }
    defer { unsafe closedir(stream) }
    errno = 0
    while let entry = unsafe readdir(stream) {
      let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        unsafe Array(bytes.prefix { $0 != 0 })
      }
      if !name.elementsEqual(".".utf8), !name.elementsEqual("..".utf8) {
        try body(FileName(name), FileStatus.Kind(ofEntry: Int32(unsafe entry.pointee.d_type)))
      }
      errno = 0
    }
    if errno != 0 { throw SystemError.last }
  }

  package func setPermissions(_ permissions: FilePermissions) throws(SystemError) {
    try descriptor.setPermissions(permissions)
  }

  /// Gives the owner all permissions, if the status lacks some. A failure is ignored, because the
  /// next operation reports it.
  package func grantOwnerAccess(_ status: FileStatus) {
    let permissions = status.permissions.union(0o700)
    if permissions != status.permissions { try? setPermissions(permissions) }
  }

  package func close() { try? descriptor.close() }
}

// MARK: Long paths

extension OpenFolder {
  /// Calls a system function with the path, or with a folder and the rest of the path if the path is
  /// too long for the system.
  ///
  /// - Parameter function: Returns a negative number if it has failed. It is called again if a
  ///   signal has interrupted it.
  @discardableResult private func call(
    _ path: FileName, _ function: (_ folder: Int32, _ path: [CChar]) -> Int32
  ) throws(SystemError) -> Int32 {
    if path.bytes.count <= Self.longestPath {
      return try FileDescriptor.repeatingIfInterrupted { function(descriptor.rawValue, path.bytes) }
    }
    let separator = CChar(bitPattern: UInt8(ascii: "/"))
    guard let end = path.bytes.prefix(Self.longestPath).lastIndex(of: separator) else {
      throw .nameTooLong
    }
    let folder = try searchableFolder(Array(path.bytes[...end]) + [0])
    defer { folder.close() }
    let rest = path.bytes[end...].drop { $0 == separator }
    return try folder.call(FileName(terminated: Array(rest)), function)
  }

  /// `PATH_MAX` of the system: the size of the longest path with its terminating zero byte.
  private static var longestPath: Int { Int(PATH_MAX) }

  /// Opens a folder to search it for a name.
  private func searchableFolder(_ path: [CChar]) throws(SystemError) -> OpenFolder {
    let number = try FileDescriptor.repeatingIfInterrupted {
      unsafe file_open_for_search(descriptor.rawValue, path)
    }
    return OpenFolder(descriptor: FileDescriptor(rawValue: number))
  }
}

extension FileStatus.Kind {
  /// The kind in an entry of a folder; nil if it is unknown.
  fileprivate init?(ofEntry type: Int32) {
    switch type {
    case Int32(DT_UNKNOWN): return nil
    case Int32(DT_REG): self = .file
    case Int32(DT_DIR): self = .folder
    case Int32(DT_LNK): self = .link
    default: self = .other
    }
  }
}
