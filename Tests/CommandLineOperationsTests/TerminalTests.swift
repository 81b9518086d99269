#if os(Linux)
  import CommandLineOperations
  import Foundation
  import SystemSupport
  import Testing

  @Suite struct TerminalTests {
    /// In a child process, because it changes the environment.
    @Test func `failures are red on a terminal that understands escapes, without NO_COLOR`() async {
      await #expect(processExitsWith: .success) {
        let (terminal, stream) = openTerminal()
        let error = StandardError(FileDescriptor(rawValue: stream))
        let cases: [(term: String?, noColor: String?, isRed: Bool)] = [
          ("xterm", nil, true), ("xterm", "", true), ("xterm", "1", false), ("dumb", nil, false),
          ("", nil, false), (nil, nil, false),
        ]
        for (term, noColor, isRed) in cases {
          set("TERM", term)
          set("NO_COLOR", noColor)
          error.writeFailure("one\ntwo")
          let first = isRed ? "\u{1B}[31mone\u{1B}[39m" : "one"
          #expect(read(terminal, until: "two\r\n") == "\(first)\r\ntwo\r\n")
          #expect(error.isTerminal == (term == "xterm"))
        }
      }
    }

    @Test func `failures in a file have no escapes`() throws {
      let stream = try CapturedStream()
      StandardError(stream.descriptor).writeFailure("one\ntwo")
      #expect(try stream.text == "one\ntwo\n")
    }

    /// In a child process, because it changes the environment.
    @Test func `lines that are replaced take the columns of wide characters`() async {
      await #expect(processExitsWith: .success) {
        let (terminal, stream) = openTerminal()
        set("TERM", "xterm")
        // Of a terminal without a size, 80 columns.
        let output = StandardError(FileDescriptor(rawValue: stream))
        let screen = Screen()
        screen.show([String(repeating: "同", count: 41)], on: output)
        _ = read(terminal, until: "\u{1B}[J")
        screen.show(["next"], on: output)
        // The line has taken two rows.
        #expect(read(terminal, until: "\u{1B}[J").hasPrefix("\u{1B}[2A\r"))
      }
    }
  }

  /// The two ends of a terminal as Linux makes one.
  private func openTerminal() -> (terminal: Int32, stream: Int32) {
    let terminal = unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY)
    var number: Int32 = 0
    #expect(unsafe ioctl(terminal, 0x4004_5431, &number) == 0)
    #expect(unsafe ioctl(terminal, 0x8004_5430, &number) == 0)
    return (terminal, unsafe open("/dev/pts/\(number)", O_RDWR | O_NOCTTY))
  }

  private func set(_ variable: String, _ value: String?) {
    _ = if let value { unsafe setenv(variable, value, 1) } else { unsafe unsetenv(variable) }
  }

  /// Reads what was written to a terminal until a text.
  private func read(_ terminal: Int32, until end: String) -> String {
    var bytes: [UInt8] = []
    var text = ""
    while !text.hasSuffix(end) {
      var byte: UInt8 = 0
      guard unsafe Glibc.read(terminal, &byte, 1) == 1 else { break }
      bytes.append(byte)
      text = String(decoding: bytes, as: UTF8.self)
    }
    return text
  }
#endif
