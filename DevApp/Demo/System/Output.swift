#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Standard output, without a buffer that a killed program would take along.
struct StandardOutput: Sendable {
  func write(_ bytes: [UInt8]) throws(SystemError) { try writeAll(bytes, to: STDOUT_FILENO) }
}

/// Standard error, for what is said to a person.
struct StandardError: Sendable {
  var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }

  /// How many characters fit on a line.
  private var width: Int {
    var size = winsize()
    let isKnown = unsafe ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
    return isKnown ? Int(size.ws_col) : 80
  }

  func writeLine(_ text: String) { write(text + "\n") }

  /// Writes over the line that the cursor is on, in one piece so that it does not flicker.
  func replaceLine(with text: String) { write("\r\u{1B}[K" + text.prefix(max(0, width - 1))) }

  // Nobody is left to be told that standard error cannot be written.
  private func write(_ text: String) { try? writeAll(Array(text.utf8), to: STDERR_FILENO) }
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
