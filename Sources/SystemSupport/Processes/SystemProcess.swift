internal import CProcesses

/// This process, and signals to other processes.
package enum SystemProcess {
  /// The file name of the running program, without its folder.
  package static var programName: String {
    let path = CommandLine.arguments.first ?? ""
    return path.split(separator: "/").last.map(String.init) ?? "unknown"
  }

  /// Returns the value of an environment variable; nil if there is no such variable.
  package static func variable(_ name: String) -> String? {
    unsafe getenv(name).map { unsafe String(cString: $0) }
  }

  /// The environment variables as `NAME=VALUE`, in bytes, because they need not be UTF-8.
  package static var variables: [[UInt8]] {
    var variables: [[UInt8]] = []
    guard var next = unsafe process_variables() else { return [] }
    while let variable = unsafe next.pointee {
      unsafe variables.append(
        Array(UnsafeRawBufferPointer(start: variable, count: strlen(variable))))
      unsafe next += 1
    }
    return variables
  }

  /// The arguments of the program in bytes, because they need not be UTF-8.
  package static var arguments: [[UInt8]] {
    (0..<Int(CommandLine.argc)).compactMap { index in
      guard let argument = unsafe CommandLine.unsafeArgv[index] else { return nil }
      return unsafe Array(UnsafeRawBufferPointer(start: argument, count: strlen(argument)))
    }
  }

  /// The name of this machine, as the system has it.
  package static let hostName: String = {
    var name = [CChar](repeating: 0, count: 256)
    guard unsafe gethostname(&name, name.count - 1) == 0 else { return "localhost" }
    return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }()

  /// The number of this process.
  package static var identifier: Int32 { getpid() }

  /// How many file descriptors this process may have.
  package static var descriptorLimit: Int { Int(clamping: process_descriptor_limit()) }

  /// Ends this process.
  package static func exit(_ status: Int32) -> Never { systemExit(status) }

  /// Ends this process without handlers such as those of `atexit`, which may block.
  package static func exitAtOnce(_ status: Int32) -> Never { _exit(status) }

  /// Sends a signal to a process.
  package static func send(_ signal: Int32, to process: Int32) throws(SystemError) {
    if kill(process, signal) != 0 { throw .last }
  }

  /// Sends a signal to all processes of a group.
  package static func send(_ signal: Int32, toGroup leader: Int32) throws(SystemError) {
    if kill(-leader, signal) != 0 { throw .last }
  }

  /// Stops this process as Ctrl-Z does by default. Returns when it continues.
  package static func suspend() { process_suspend() }

  /// Returns the leader of the session that a process belongs to; nil if the process does not exist.
  package static func session(of process: Int32) -> Int32? {
    let leader = getsid(process)
    return leader < 0 ? nil : leader
  }

  /// Returns the leader of the group that a process belongs to; nil if the process does not exist.
  package static func group(of process: Int32) -> Int32? {
    let leader = getpgid(process)
    return leader < 0 ? nil : leader
  }
}

// The system's function, because a method has the same name.
private func systemExit(_ status: Int32) -> Never { exit(status) }
