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
  private let isDirect: Bool

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
    descriptor =
      try isDirect
      ? Self.opened(path, O_WRONLY) : Self.locked(Self.partialPath(of: path), for: path)
  }

  private static func opened(_ path: String, _ flags: Int32) throws(FileError) -> Int32 {
    var descriptor: Int32
    repeat {
      descriptor = unsafe open(path, flags | O_CLOEXEC, 0o666)
    } while descriptor < 0 && errno == EINTR
    if descriptor < 0 { throw FileError(path, "cannot be written", .last) }
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

  func write(_ bytes: Data) throws(FileError) {
    let failure: SystemError? = unsafe bytes.withUnsafeBytes { bytes in
      var rest = unsafe bytes[...]
      while let start = unsafe UnsafeRawBufferPointer(rebasing: rest).baseAddress,
        unsafe !rest.isEmpty
      {
        let count = unsafe writeBytes(descriptor, start, rest.count)
        if count > 0 {
          unsafe rest = rest.dropFirst(count)
        } else if count == 0 {
          return SystemError(code: EIO)
        } else if errno != EINTR {
          return .last
        }
      }
      return nil
    }
    if let failure { throw FileError(writtenPath, "cannot be written", failure) }
  }

  /// Gives the file its name, after everything of it has reached the disk.
  func finish() throws(FileError) {
    defer { _ = close(descriptor) }
    if isDirect { return }
    if fsync(descriptor) != 0 { throw FileError(writtenPath, "cannot be written", .last) }
    if unsafe rename(partialPath, path) != 0 {
      throw FileError(path, "cannot be given its name", .last)
    }
    unsafe unlink(recordPath)
  }

  /// Ends without the whole. What cannot be resumed is removed.
  func leave() {
    if !isDirect, unsafe access(recordPath, F_OK) != 0 { unsafe unlink(partialPath) }
    _ = close(descriptor)
  }
}

// Under a name that no method has.
private func writeBytes(_ file: Int32, _ bytes: UnsafeRawPointer, _ count: Int) -> Int {
  unsafe write(file, bytes, count)
}
