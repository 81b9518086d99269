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
    self.path = path.hasPrefix("/") ? path : "./" + path
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

  /// Whether both paths lead to one file.
  func isSame(as other: SQLiteFile) -> Bool {
    var (one, two) = (stat(), stat())
    return unsafe path == other.path
      || stat(path, &one) == 0 && stat(other.path, &two) == 0 && one.st_dev == two.st_dev
        && one.st_ino == two.st_ino
  }

  /// Whether this process may read it.
  var isReadable: Bool { unsafe access(path, R_OK) == 0 }

  /// Whether this process may write it, and make files beside it.
  var isWritable: Bool { unsafe access(path, W_OK) == 0 && access(folder, W_OK | X_OK) == 0 }

  /// Whether this process may make it.
  var isCreatable: Bool { unsafe access(folder, W_OK | X_OK) == 0 }

  /// Whether nobody writes it: its medium is one to read from, or its rights and those of its folder allow nobody to.
  /// The administrator may do it all the same.
  var isImmutable: Bool {
    var system = statvfs()
    if unsafe statvfs(path, &system) == 0, UInt(system.f_flag) & UInt(ST_RDONLY) != 0 {
      return true
    }
    return [path, folder].allSatisfy { path in
      var status = stat()
      return unsafe stat(path, &status) == 0
        && status.st_mode & (S_IWUSR | S_IWGRP | S_IWOTH) == 0
    }
  }

  /// Whether it has a log of what was written and is not in the file itself yet.
  var hasLog: Bool {
    var status = stat()
    return unsafe stat(path + "-wal", &status) == 0 && status.st_size > 0
  }

  private var folder: String {
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
