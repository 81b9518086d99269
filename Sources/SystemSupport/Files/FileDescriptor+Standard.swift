// The standard streams of a program, and terminals.
extension FileDescriptor {
  /// Opens the standard streams that are closed, so that no other file takes their numbers. Using
  /// them is an error, as it would be if they were closed.
  package static func occupyStandardStreams() {
    for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) == -1 {
      _ = systemOpen("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
    }
  }

  package var isTerminal: Bool { isatty(rawValue) == 1 }

  /// The size of the terminal in characters; nil if there is no terminal.
  package var terminalSize: (columns: Int, rows: Int)? {
    var size = winsize()
    guard unsafe ioctl(rawValue, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
    return (Int(size.ws_col), Int(size.ws_row))
  }

  /// Makes a pipe, whose ends the programs that this process starts do not inherit.
  package static func pipe() throws(SystemError) -> (reader: FileDescriptor, writer: FileDescriptor)
  {
    var ends: [Int32] = [-1, -1]
    if unsafe systemPipe(&ends) != 0 { throw .last }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return (FileDescriptor(rawValue: ends[0]), FileDescriptor(rawValue: ends[1]))
  }
}

// The system's functions, because methods have the same names.
private func systemOpen(_ path: String, _ flags: Int32) -> Int32 { unsafe open(path, flags) }
private func systemPipe(_ ends: UnsafeMutablePointer<Int32>) -> Int32 { unsafe pipe(ends) }
