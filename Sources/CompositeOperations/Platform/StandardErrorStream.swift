#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

enum StandardErrorStream {
  /// Writes a text, in one piece where the system does that.
  static func write(_ text: String) {
    var text = text
    text.withUTF8 { bytes in
      var written = 0
      while written < bytes.count, let start = bytes.baseAddress {
        #if canImport(Darwin)
          let count = unsafe Darwin.write(STDERR_FILENO, start + written, bytes.count - written)
        #elseif canImport(Musl)
          let count = unsafe Musl.write(STDERR_FILENO, start + written, bytes.count - written)
        #else
          let count = unsafe Glibc.write(STDERR_FILENO, start + written, bytes.count - written)
        #endif
        if count == 0 || count < 0 && errno != EINTR { return }
        written += max(0, count)
      }
    }
  }
}
