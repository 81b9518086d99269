import Foundation

/// A channel for lines to and from another process, with a time limit for each line.
struct LineChannel {
  enum Failure: Error {
    case closed
    case late(seconds: Int)
  }

  private let input: Int32
  private let output: Int32
  private var unread: [UInt8] = []

  /// - Parameters:
  ///   - input: The descriptor from which lines are read.
  ///   - output: The descriptor to which lines are written.
  init(input: Int32, output: Int32) {
    self.input = input
    self.output = output
  }

  func write(_ line: String) throws {
    let bytes = Array((line + "\n").utf8)
    var written = 0
    while written < bytes.count {
      let length = bytes[written...].withUnsafeBytes { part in
        Foundation.write(output, part.baseAddress, part.count)
      }
      if length < 0, errno == EINTR { continue }
      if length <= 0 { throw Failure.closed }
      written += length
    }
  }

  mutating func read(within seconds: Int) throws -> String {
    let end = ContinuousClock.now + .seconds(seconds)
    while true {
      if let newline = unread.firstIndex(of: UInt8(ascii: "\n")) {
        let line = String(decoding: unread[..<newline], as: UTF8.self)
        unread.removeFirst(newline + 1)
        return line
      }
      let left = (end - ContinuousClock.now) / .milliseconds(1)
      guard left > 0 else { throw Failure.late(seconds: seconds) }
      try readMore(within: Int32(left) + 1)
    }
  }

  func close() {
    Foundation.close(input)
    Foundation.close(output)
  }

  private mutating func readMore(within milliseconds: Int32) throws {
    var request = pollfd(fd: input, events: Int16(POLLIN), revents: 0)
    guard poll(&request, 1, milliseconds) > 0 else { return }
    var buffer = [UInt8](repeating: 0, count: 4_096)
    let length = Foundation.read(input, &buffer, buffer.count)
    if length < 0, errno == EINTR { return }
    if length <= 0 { throw Failure.closed }
    unread += buffer[..<length]
  }
}
