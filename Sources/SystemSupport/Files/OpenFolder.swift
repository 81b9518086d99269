#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// An open folder, with operations on the names in it. It must be closed exactly once.
///
/// Symbolic links in the last name of a path are followed only on request.
package struct OpenFolder: Sendable {
  package let file: OpenFile

  /// The working folder, in which whole paths are resolved. It is not closed.
  package static let working = OpenFolder(file: OpenFile(descriptor: AT_FDCWD))

  private init(file: OpenFile) { self.file = file }

  package init(_ path: String, followingLink: Bool = false) throws(SystemError) {
    self = try Self.working.folder(FileName(path), followingLink: followingLink)
  }

  package func open(_ name: FileName, _ flags: Int32, mode: FilePermissions = 0) throws(SystemError)
    -> OpenFile
  {
    var descriptor: Int32
    repeat {
      descriptor = unsafe openat(file.descriptor, name.bytes, flags | O_CLOEXEC, mode)
    } while descriptor < 0 && errno == EINTR
    if descriptor < 0 { throw .last }
    return OpenFile(descriptor: descriptor)
  }

  package func folder(_ name: FileName, followingLink: Bool = false) throws(SystemError)
    -> OpenFolder
  {
    let flags = O_RDONLY | O_DIRECTORY | (followingLink ? 0 : O_NOFOLLOW)
    return OpenFolder(file: try open(name, flags))
  }

  package func status(of name: FileName, followingLink: Bool = false) throws(SystemError)
    -> FileStatus
  {
    var status = stat()
    let flags = followingLink ? 0 : AT_SYMLINK_NOFOLLOW
    if unsafe fstatat(file.descriptor, name.bytes, &status, flags) != 0 { throw .last }
    return FileStatus(status)
  }

  package func removeFile(_ name: FileName) throws(SystemError) {
    if unsafe unlinkat(file.descriptor, name.bytes, 0) != 0 { throw .last }
  }

  package func removeFolder(_ name: FileName) throws(SystemError) {
    if unsafe unlinkat(file.descriptor, name.bytes, AT_REMOVEDIR) != 0 { throw .last }
  }

  /// Creates a folder that only its owner can access.
  package func makeFolder(_ name: FileName) throws(SystemError) {
    if unsafe mkdirat(file.descriptor, name.bytes, 0o700) != 0 { throw .last }
  }

  package func target(ofLink name: FileName) throws(SystemError) -> FileName {
    // The maximum length on all systems.
    let size = 4_096
    var target = [CChar](repeating: 0, count: size)
    let count = unsafe readlinkat(file.descriptor, name.bytes, &target, size)
    if count < 0 { throw .last }
    return FileName(target.prefix(count).map { UInt8(bitPattern: $0) })
  }

  /// Gives a file a second name, unless the name exists.
  package func link(_ name: FileName, as other: FileName) throws(SystemError) {
    let descriptor = file.descriptor
    if unsafe linkat(descriptor, name.bytes, descriptor, other.bytes, 0) != 0 { throw .last }
  }

  /// Makes a symbolic link.
  ///
  /// - Parameter status: The status whose owner and times the link gets, as far as the system
  ///   allows.
  package func makeLink(
    _ name: FileName, to target: FileName, like status: FileStatus
  ) throws(SystemError) {
    if unsafe symlinkat(target.bytes, file.descriptor, name.bytes) != 0 { throw .last }
    let flags = AT_SYMLINK_NOFOLLOW
    _ = unsafe fchownat(file.descriptor, name.bytes, status.owner, status.group, flags)
    var times = [status.accessed, status.modified]
    _ = unsafe utimensat(file.descriptor, name.bytes, &times, flags)
  }

  /// Returns the names in the folder, sorted.
  ///
  /// - Parameter check: Called for every name. It throws to stop reading.
  package func names(_ check: () throws -> Void) throws -> [FileName] {
    let descriptor = fcntl(file.descriptor, F_DUPFD_CLOEXEC, 0)
    guard descriptor >= 0 else { throw SystemError.last }
    guard let stream = unsafe fdopendir(descriptor) else {
      let error = SystemError.last
      try? OpenFile(descriptor: descriptor).close()
      throw error
    }
    defer { unsafe closedir(stream) }
    var names: [FileName] = []
    errno = 0
    while let entry = unsafe readdir(stream) {
      try check()
      let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        unsafe Array(bytes.prefix { $0 != 0 })
      }
      if !name.elementsEqual(".".utf8), !name.elementsEqual("..".utf8) {
        names.append(FileName(name))
      }
      errno = 0
    }
    if errno != 0 { throw SystemError.last }
    return names.sorted(by: FileName.precedes)
  }

  package func setPermissions(_ permissions: FilePermissions) throws(SystemError) {
    if fchmod(file.descriptor, permissions) != 0 { throw .last }
  }

  /// Gives the owner all permissions, if the status lacks some. A failure is ignored, because the
  /// next operation reports it.
  package func letOwnerChange(_ status: FileStatus) {
    let permissions = status.permissions | 0o700
    if permissions != status.permissions { try? setPermissions(permissions) }
  }

  package func close() { try? file.close() }
}

extension SystemError {
  package var isMissing: Bool { code == ENOENT || code == ENOTDIR }
  package var isDenied: Bool { code == EACCES || code == EPERM }
  package var isOnAnotherDisk: Bool { code == EXDEV }
  /// A pipe has no reader.
  package var isWithoutReader: Bool { code == ENXIO }

  package static var exists: SystemError { SystemError(code: EEXIST) }
  package static var missing: SystemError { SystemError(code: ENOENT) }

  /// Returns the result of a body, or nil if the body throws an error for a missing file.
  ///
  /// - Returns: Nil if the file is missing.
  package static func ifThere<Value>(_ body: () throws -> Value) throws -> Value? {
    do { return try body() } catch let error as SystemError where error.isMissing { return nil }
  }
}
