#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A body in a coding that a library of the system undoes.
enum LibraryCoding: String, CaseIterable, Sendable {
  case br, zstd

  private var library: String { self == .br ? "libbrotlidec.so.1" : "libzstd.so.1" }

  var isInstalled: Bool {
    #if os(Linux)
      unsafe dlopen(library, RTLD_LAZY) != nil
    #else
      false
    #endif
  }

  static var installed: [Self] { allCases.filter(\.isInstalled) }

  /// The text `hello`, compressed.
  var hello: [UInt8] {
    switch self {
    case .br: [0x0B, 0x02, 0x80, 0x68, 0x65, 0x6C, 0x6C, 0x6F, 0x03]
    case .zstd:
      [0x28, 0xB5, 0x2F, 0xFD, 0x04, 0x58, 0x29, 0, 0] + Array("hello".utf8)
        + [0xA3, 0x6D, 0x9F, 0x88]
    }
  }

  /// A mebibyte of zeros, compressed.
  var zeros: [UInt8] {
    switch self {
    case .br:
      [0x5B, 0xFF, 0xFF, 0x8F, 0x7F, 0x02, 0x20, 0x1E, 0x0B, 0x04, 0x72, 0xEF, 0x1F, 0x00]
    case .zstd:
      [0x28, 0xB5, 0x2F, 0xFD, 0x04, 0x68, 0x4C, 0, 0, 8, 0, 1, 0, 0xFC, 0xFF, 0x39, 0x10, 2]
        + Array([[UInt8]](repeating: [2, 0, 0x10, 0], count: 6).joined())
        + [0x03, 0, 0x10, 0, 0xF1, 0x3E, 0x16, 0xE1]
    }
  }
}
