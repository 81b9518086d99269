internal import SystemSupport

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
    do throws(SystemError) {
      return switch try FileStatus(ofFile: path).kind {
      case .file: .file
      case .folder: .folder
      case .link, .other: .other
      }
    } catch {
      return error == .noSuchFileOrDirectory ? .missing : .unknown(code: error.code)
    }
  }

  package var isMissing: Bool { if case .missing = kind { true } else { false } }

  /// Returns whether both paths name the same file.
  package func isSame(as other: SQLiteFile) -> Bool {
    path == other.path || FileSystem.areSame(path, other.path)
  }

  /// Whether this process may read the file.
  var isReadable: Bool { FileSystem.allows(.reading, to: path) }

  /// Whether this process may write the file, and create files next to it.
  var isWritable: Bool { FileSystem.allows(.writing, to: path) && hasWritableFolder }

  /// Whether this process may create files in the folder.
  package var hasWritableFolder: Bool { FileSystem.allows(.changingNames, to: folder) }

  /// Whether no process can write the file: its disk is read-only for all of them, or the
  /// permissions of the file and of its folder deny writing to every user. Root can still write it.
  var isImmutable: Bool {
    if isOnReadOnlyDisk { return true }
    // A connection that was opened before the permissions changed keeps writing.
    if status("-shm") != nil { return false }
    return [path, folder].allSatisfy { path in
      (try? FileStatus(ofFile: path))?.permissions.isDisjoint(with: 0o222) == true
    }
  }

  private var isOnReadOnlyDisk: Bool {
    guard FileSystem.isMountedReadOnly(path) else { return false }
    #if os(Linux) || os(Android)
      guard let number = status("")?.identity.device else { return false }
      return MountTable.current?.isReadOnly(device: Self.numbers(ofDevice: number)) ?? false
    #else
      return true
    #endif
  }

  /// The type of the file system if the folder is on another machine; nil otherwise.
  package var networkType: String? {
    #if os(Linux) || os(Android)
      guard let number = (try? FileStatus(ofFile: folder))?.identity.device else { return nil }
      return MountTable.current?.networkType(ofDevice: Self.numbers(ofDevice: number))
    #else
      return FileSystem.networkType(of: folder)
    #endif
  }

  #if os(Linux) || os(Android)
    /// The major and the minor number, which Linux packs into one, as the mount table writes them.
    private static func numbers(ofDevice number: UInt64) -> String {
      let major = number >> 8 & 0xFFF | number >> 32 & 0xFFFF_F000
      let minor = number & 0xFF | number >> 12 & 0xFFFF_FF00
      return "\(major):\(minor)"
    }
  #endif

  /// Whether a WAL has changes that may not be in the file yet.
  package var hasWAL: Bool { walSize > 0 }

  /// The size of the WAL file, in bytes; 0 if it does not exist.
  package var walSize: Int { status("-wal")?.size ?? 0 }

  private func status(_ suffix: String) -> FileStatus? { try? FileStatus(ofFile: path + suffix) }

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
