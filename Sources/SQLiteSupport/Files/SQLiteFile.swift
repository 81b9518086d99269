#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// The properties of a file that determine how it is opened.
package struct SQLiteFile {
  package let path: String

  /// - Parameter path: The path of the file, absolute or relative to the working directory.
  package init(_ path: String) {
    // This prefix keeps SQLite from giving a name a special meaning, such as `:memory:` or a URI.
    self.path = path.hasPrefix("/") || path.hasPrefix("./") ? path : "./" + path
  }

  package enum Kind {
    case missing, file, folder, other
    case unknown(code: Int32)
  }

  package var kind: Kind {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else {
      return errno == ENOENT ? .missing : .unknown(code: errno)
    }
    return switch status.st_mode & S_IFMT {
    case S_IFREG: .file
    case S_IFDIR: .folder
    default: .other
    }
  }

  package var isMissing: Bool { if case .missing = kind { true } else { false } }

  /// Returns whether both paths name the same file.
  package func isSame(as other: SQLiteFile) -> Bool {
    var (one, two) = (stat(), stat())
    return unsafe path == other.path
      || stat(path, &one) == 0 && stat(other.path, &two) == 0 && one.st_dev == two.st_dev
        && one.st_ino == two.st_ino
  }

  /// Whether this process may read the file.
  var isReadable: Bool { isAllowed(R_OK, path) }

  /// Whether this process may write the file, and create files next to it.
  var isWritable: Bool { isAllowed(W_OK, path) && hasWritableFolder }

  /// Whether this process may create files in the folder.
  package var hasWritableFolder: Bool { isAllowed(W_OK | X_OK, folder) }

  /// Checks the effective user, as the system does when it opens the file.
  private func isAllowed(_ access: Int32, _ path: String) -> Bool {
    unsafe faccessat(AT_FDCWD, path, access, AT_EACCESS) == 0
  }

  /// Whether no process can write the file: its disk is read-only for all of them, or the
  /// permissions of the file and of its folder deny writing to every user. Root can still write it.
  var isImmutable: Bool {
    if isOnReadOnlyDisk { return true }
    // A connection that was opened before the permissions changed keeps writing.
    if status("-shm") != nil { return false }
    return [path, folder].allSatisfy { path in
      var status = stat()
      return unsafe stat(path, &status) == 0
        && status.st_mode & (S_IWUSR | S_IWGRP | S_IWOTH) == 0
    }
  }

  private var isOnReadOnlyDisk: Bool {
    #if canImport(Darwin)
      var system = statfs()
      guard unsafe statfs(path, &system) == 0 else { return false }
      let flags = UInt32(MNT_RDONLY) | UInt32(MNT_LOCAL)
      return system.f_flags & flags == flags
    #elseif os(Linux) || os(Android)
      var system = statvfs()
      guard unsafe statvfs(path, &system) == 0, UInt(system.f_flag) & UInt(ST_RDONLY) != 0,
        let device = status("")?.st_dev
      else { return false }
      // Linux packs the major and the minor number into one.
      let number = UInt64(device)
      let major = number >> 8 & 0xFFF | number >> 32 & 0xFFFF_F000
      let minor = number & 0xFF | number >> 12 & 0xFFFF_FF00
      return MountTable.current?.isReadOnly(device: "\(major):\(minor)") ?? false
    #else
      return false
    #endif
  }

  /// Whether a WAL has changes that may not be in the file yet.
  package var hasWAL: Bool { walSize > 0 }

  /// The size of the WAL file, in bytes; 0 if it does not exist.
  package var walSize: Int { status("-wal").map { Int($0.st_size) } ?? 0 }

  private func status(_ suffix: String) -> stat? {
    var status = stat()
    return unsafe stat(path + suffix, &status) == 0 ? status : nil
  }

  /// The folder of the file.
  var folder: String {
    path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
  }

  /// The URI that opens the file as immutable.
  var immutableURI: String {
    let digits = Array("0123456789ABCDEF")
    let escaped = path.utf8.reduce(into: "") { text, byte in
      switch byte {
      case 0x2D, 0x2E, 0x2F, 0x30...0x39, 0x41...0x5A, 0x5F, 0x61...0x7A:
        text.unicodeScalars.append(Unicode.Scalar(byte))
      default: text += "%\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
      }
    }
    return "file:\(escaped)?immutable=1"
  }
}
