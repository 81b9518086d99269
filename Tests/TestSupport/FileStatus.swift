public import Foundation

/// The status of a file, or of a symbolic link itself.
///
/// - Precondition: There is such a file.
public func status(of url: URL) -> stat {
  var status = stat()
  precondition(unsafe lstat(url.path, &status) == 0, "\(url.path): errno \(errno)")
  return status
}

/// The permissions of a file, with setuid and setgid.
public func rights(of url: URL) -> mode_t { status(of: url).st_mode & 0o7777 }

/// The modification time of a file, or of a symbolic link itself.
public func changeTime(of url: URL) -> timespec {
  #if canImport(Darwin)
    status(of: url).st_mtimespec
  #else
    status(of: url).st_mtim
  #endif
}
