#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// What there is at a path, as far as it decides how it is opened.
struct SQLiteFile {
  let path: String

  /// - Parameter path: Of a file; relative ones are those of the working folder.
  init(_ path: String) {
    // SQLite has names with a meaning of their own: those in memory, and those that are addresses.
    self.path = path.hasPrefix("/") || path.hasPrefix("./") ? path : "./" + path
  }

  enum Kind {
    case missing, file, folder, other
    case unknown(code: Int32)
  }

  var kind: Kind {
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

  var isMissing: Bool { if case .missing = kind { true } else { false } }

  /// Whether both paths lead to one file.
  func isSame(as other: SQLiteFile) -> Bool {
    var (one, two) = (stat(), stat())
    return unsafe path == other.path
      || stat(path, &one) == 0 && stat(other.path, &two) == 0 && one.st_dev == two.st_dev
        && one.st_ino == two.st_ino
  }

  /// Whether this process may read it.
  var isReadable: Bool { isAllowed(R_OK, path) }

  /// Whether this process may write it, and make files beside it.
  var isWritable: Bool { isAllowed(W_OK, path) && hasWritableFolder }

  /// Whether this process may make files in its folder.
  var hasWritableFolder: Bool { isAllowed(W_OK | X_OK, folder) }

  /// By the effective user, as the system decides when the file is opened.
  private func isAllowed(_ access: Int32, _ path: String) -> Bool {
    unsafe faccessat(AT_FDCWD, path, access, AT_EACCESS) == 0
  }

  /// Whether no process can write it: its disk is read-only for all of them, or the permissions of the file and of its
  /// folder deny writing to every user. Root can write it all the same.
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
      // Two numbers in one, as Linux packs them.
      let number = UInt64(device)
      let major = number >> 8 & 0xFFF | number >> 32 & 0xFFFF_F000
      let minor = number & 0xFF | number >> 12 & 0xFFFF_FF00
      return MountTable.current?.isReadOnly(device: "\(major):\(minor)") ?? false
    #else
      return false
    #endif
  }

  /// Whether it has a log of what was written and is not in the file itself yet.
  var hasLog: Bool { logSize > 0 }

  /// How large its log is, in bytes; 0 where there is none.
  var logSize: Int { status("-wal").map { Int($0.st_size) } ?? 0 }

  private func status(_ suffix: String) -> stat? {
    var status = stat()
    return unsafe stat(path + suffix, &status) == 0 ? status : nil
  }

  /// The folder it is in.
  var folder: String {
    path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
  }

  /// It as an address by which it is opened as one that never changes.
  var immutableAddress: String {
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
