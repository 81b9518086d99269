import SystemSupport

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The files and folders in a folder, without symbolic links and other kinds of files.
struct FolderEntries: Sendable {
  /// The identity of the folder, independent of its path.
  let identity: FileStatus.Identity
  private(set) var files: [FileEntry] = []
  private(set) var folders: [RawPath] = []
  private(set) var problems: [Problem] = []

  init(of path: RawPath) throws(SystemError) {
    let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC
    let descriptor = unsafe path.withCString { unsafe open($0, flags) } ?? -1
    guard descriptor >= 0, let folder = unsafe fdopendir(descriptor) else { throw SystemError.last }
    defer { unsafe closedir(folder) }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { throw SystemError.last }
    identity = FileStatus(status).identity
    while true {
      errno = 0
      guard let entry = unsafe readdir(folder) else { break }
      unsafe add(entry, of: path, open: descriptor)
    }
    if errno != 0 { throw SystemError.last }
  }

  private mutating func add(
    _ entry: UnsafeMutablePointer<dirent>, of path: RawPath, open folder: Int32
  ) {
    let type = unsafe Int32(entry.pointee.d_type)
    guard type == DT_REG || type == DT_DIR || type == DT_UNKNOWN else { return }
    unsafe withUnsafeBytes(of: &entry.pointee.d_name) { field in
      let name = unsafe field.prefix { $0 != 0 }
      if unsafe name.elementsEqual(".".utf8) || name.elementsEqual("..".utf8) { return }
      let child = unsafe path.appending(name)
      if type == DT_DIR {
        folders.append(child)
        return
      }
      var status = stat()
      guard let name = unsafe field.assumingMemoryBound(to: CChar.self).baseAddress,
        unsafe fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0
      else {
        problems.append(Problem(child, SystemError.last))
        return
      }
      let file = FileEntry(path: child, status: FileStatus(status))
      switch file.status.kind {
      case .file: files.append(file)
      case .folder: folders.append(child)
      case .other: break
      }
    }
  }
}
