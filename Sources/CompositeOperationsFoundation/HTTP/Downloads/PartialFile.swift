internal import CompositeOperations
internal import Foundation

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
  private let descriptor: Int32
  /// Where it is to be in the end.
  let path: String
  /// Whether bytes go to where they are to be in the end.
  let isDirect: Bool
  /// The rights of the file that is replaced; nil if there is none.
  private let permissions: mode_t?

  private var partialPath: String { Self.partialPath(of: path) }
  private var recordPath: String { partialPath + ".json" }
  /// Where bytes are written.
  private var writtenPath: String { isDirect ? path : partialPath }

  private static func partialPath(of path: String) -> String { path + ".partial" }

  /// Opens and locks it.
  init(at path: String) throws(FileError) {
    self.path = path
    var status = stat()
    let exists = unsafe stat(path, &status) == 0
    let kind = status.st_mode & S_IFMT
    if exists, kind == S_IFDIR {
      throw FileError(
        path, "cannot be written", because: "It is a folder. Name a file in that folder.")
    }
    isDirect = exists && kind != S_IFREG
    if isDirect {
      permissions = nil
      // A pipe without a reader must not hold this up.
      descriptor = try Self.opened(path, O_WRONLY | O_NONBLOCK)
      #if canImport(Darwin)
        _ = fcntl(descriptor, F_SETNOSIGPIPE, 1)
      #endif
      return
    }
    // Not those of what a link points to, which stays.
    let isThere = unsafe lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    permissions = isThere ? status.st_mode & 0o777 : nil
    descriptor = try Self.locked(Self.partialPath(of: path), for: path)
    // Whoever may not read the old one may not read parts of the new one; the owner has to, to go on.
    if let permissions { fchmod(descriptor, permissions | 0o600) }
  }

  private static func opened(_ path: String, _ flags: Int32) throws(FileError) -> Int32 {
    var descriptor: Int32
    repeat {
      descriptor = unsafe open(path, flags | O_CLOEXEC, 0o666)
    } while descriptor < 0 && errno == EINTR
    if descriptor < 0 {
      let error = SystemError.last
      if error.code != ENXIO { throw FileError(path, "cannot be written", error) }
      throw FileError(
        path, "cannot be written", error,
        because: "Nobody reads what is written to it. Have somebody read it before.")
    }
    return descriptor
  }

  private static func locked(_ partial: String, for path: String) throws(FileError) -> Int32 {
    while true {
      let descriptor = try opened(partial, O_RDWR | O_CREAT | O_NOFOLLOW)
      if flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
        let error = SystemError.last
        _ = close(descriptor)
        if error.code != EWOULDBLOCK { throw FileError(partial, "cannot be locked", error) }
        throw FileError(
          path, "is being downloaded already",
          because: "Wait for that download, or name another place.")
      }
      var (opened, named) = (stat(), stat())
      let isThere = unsafe fstat(descriptor, &opened) == 0 && lstat(partial, &named) == 0
      if isThere, opened.st_ino == named.st_ino, opened.st_dev == named.st_dev {
        return descriptor
      }
      // Between opening and locking another download has finished, and taken the file away.
      _ = close(descriptor)
    }
  }

  /// What there is already.
  func plan(for url: URL) -> DownloadPlan {
    var status = stat()
    guard !isDirect, unsafe fstat(descriptor, &status) == 0,
      let data = try? Data(contentsOf: URL(fileURLWithPath: recordPath)),
      let record = try? JSONDecoder().decode(DownloadRecord.self, from: data)
    else { return .whole }
    return DownloadPlan(offset: Int(status.st_size), record: record, for: url)
  }

  /// Puts what comes behind what there is.
  func seek(to offset: Int) throws(FileError) {
    if isDirect { return }
    if lseek(descriptor, off_t(offset), SEEK_SET) < 0 {
      throw FileError(writtenPath, "cannot be written", .last)
    }
  }

  /// Drops what there is.
  ///
  /// - Parameter record: Of what the bytes are that come; nil if they cannot be resumed.
  func startAnew(_ record: DownloadRecord?) throws(FileError) {
    if isDirect { return }
    // The record goes first and comes last: it must never stand beside bytes of something else.
    unsafe unlink(recordPath)
    if ftruncate(descriptor, 0) != 0 { throw FileError(writtenPath, "cannot be emptied", .last) }
    try seek(to: 0)
    guard let record else { return }
    do {
      try JSONEncoder().encode(record).write(to: URL(fileURLWithPath: recordPath))
    } catch {
      // Without it, the download cannot be resumed, and that is all.
      unsafe unlink(recordPath)
    }
  }

  /// - Parameter isStopped: Asked from time to time while a pipe is full.
  /// - Throws: ``FileError``, or `CancellationError` if it was stopped.
  func write(_ bytes: Data, unless isStopped: () -> Bool) throws {
    try unsafe bytes.withUnsafeBytes { bytes in
      var rest = unsafe bytes[...]
      while unsafe !rest.isEmpty {
        switch unsafe written(UnsafeRawBufferPointer(rebasing: rest)) {
        case .success(let count): unsafe rest = rest.dropFirst(count)
        case .failure(let error) where error.code == EINTR: break
        case .failure(let error) where error.code == EAGAIN:
          if isStopped() { throw CancellationError() }
          var event = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
          _ = unsafe poll(&event, 1, 50)
        case .failure(let error): throw FileError(writtenPath, "cannot be written", error)
        }
      }
    }
  }

  private func written(_ bytes: UnsafeRawBufferPointer) -> Result<Int, SystemError> {
    BrokenPipeSignal.held {
      let count = unsafe writeBytes(descriptor, bytes)
      if count > 0 { return .success(count) }
      return .failure(count < 0 ? .last : SystemError(code: EIO))
    }
  }

  /// Gives the file its name, after everything of it has reached the disk.
  func finish() throws(FileError) {
    defer { _ = close(descriptor) }
    if isDirect { return }
    if let permissions, fchmod(descriptor, permissions) != 0 {
      throw FileError(writtenPath, "cannot be given the rights of the old file", .last)
    }
    try synchronize(descriptor, writtenPath)
    if unsafe rename(partialPath, path) != 0 {
      throw FileError(path, "cannot be given its name", .last)
    }
    unsafe unlink(recordPath)
    // The name is on the disk when the folder is; one that may not be read cannot be asked for that.
    let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
    let folderDescriptor = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    if folderDescriptor < 0 { return }
    defer { _ = close(folderDescriptor) }
    try synchronize(folderDescriptor, folder)
  }

  private func synchronize(_ descriptor: Int32, _ path: String) throws(FileError) {
    // Some have nothing to be written to, which is no error.
    if fsync(descriptor) != 0, errno != EINVAL, errno != EROFS {
      throw FileError(path, "cannot be written", .last)
    }
  }

  /// Ends without the whole. What cannot be resumed is removed.
  func leave() {
    if !isDirect, unsafe access(recordPath, F_OK) != 0 { unsafe unlink(partialPath) }
    _ = close(descriptor)
  }
}

// Under a name that no method has.
private func writeBytes(_ file: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
  unsafe write(file, bytes.baseAddress, bytes.count)
}
