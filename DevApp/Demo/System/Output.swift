#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Standard output without a buffer, so that a program that is killed loses nothing.
struct StandardOutput: Sendable {
  func write(_ bytes: [UInt8]) throws(SystemError) { try writeAll(bytes, to: STDOUT_FILENO) }

  /// Whether standard output is a file, so that it does not appear on a terminal.
  var isFile: Bool {
    var status = stat()
    return unsafe fstat(STDOUT_FILENO, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
  }

  /// The width in characters; nil without a terminal.
  var width: Int? {
    guard isatty(STDOUT_FILENO) == 1 else { return nil }
    return TerminalSize(of: STDOUT_FILENO).columns
  }
}

/// Standard error, for messages.
struct StandardError: Sendable {
  var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }

  /// The size of the terminal.
  var size: TerminalSize { TerminalSize(of: STDERR_FILENO) }

  func writeLine(_ text: String) { write(text + "\n") }

  // Errors are ignored, because there is no other place to report them.
  func write(_ text: String) { try? writeAll(Array(text.utf8), to: STDERR_FILENO) }
}

/// The size of a terminal in characters.
struct TerminalSize {
  let columns: Int
  let rows: Int

  init(of descriptor: Int32) {
    var size = winsize()
    let isKnown = unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
    columns = isKnown ? Int(size.ws_col) : 80
    rows = isKnown ? Int(size.ws_row) : 24
  }
}

private func writeAll(_ bytes: [UInt8], to descriptor: Int32) throws(SystemError) {
  var error: SystemError?
  unsafe bytes.withUnsafeBytes { buffer in
    var done = 0
    while done < buffer.count, let address = buffer.baseAddress {
      let count = unsafe write(descriptor, address + done, buffer.count - done)
      if count >= 0 {
        done += count
      } else if errno != EINTR {
        error = .last
        break
      }
    }
  }
  if let error { throw error }
}
