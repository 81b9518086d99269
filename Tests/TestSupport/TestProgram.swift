internal import CProcesses
public import Foundation

/// A program that a test runs.
///
/// Replaces `Foundation.Process`, which in Swift 6.3 reads beyond the end of a buffer if more than
/// about 1,300 files are open, and then sometimes crashes the test process.
public struct TestProgram: Sendable {
  public struct Failure: Error, CustomStringConvertible {
    public let description: String

    public init(_ description: String) { self.description = description }
  }

  public let path: String
  public var arguments: [String]
  /// The working folder; nil for the folder of the test process.
  public var folder: String?
  /// The environment variables; nil for the environment of the test process.
  public var environment: [String: String]?

  public init(
    _ path: String, _ arguments: [String] = [], in folder: String? = nil,
    environment: [String: String]? = nil
  ) {
    (self.path, self.arguments) = (path, arguments)
    (self.folder, self.environment) = (folder, environment)
  }

  /// Starts the program as the leader of a new process group.
  ///
  /// - Parameters:
  ///   - input: The source of standard input; nil for an empty one.
  ///   - output: The destination of standard output; nil to discard it.
  ///   - error: The destination of standard error; nil to discard it.
  /// - Returns: The running program. The caller must wait for its end.
  /// - Throws: `Failure`, if the program cannot be started.
  public func start(
    input: FileHandle? = nil, output: FileHandle? = nil, error: FileHandle? = nil
  ) throws -> RunningProgram {
    let arguments = [path] + arguments
    let variables = (environment ?? ProcessInfo.processInfo.environment).map { "\($0)=\($1)" }
    let nothing = Int32(process_stream_null)
    var process: pid_t = 0
    let code = unsafe Self.withTexts([[path], arguments, variables, [folder ?? "."]]) { texts in
      var plan = unsafe process_plan(
        program: texts[0], arguments: texts[1], argument_count: arguments.count,
        variables: texts[2], variable_count: variables.count, folder: texts[3],
        input: input?.fileDescriptor ?? nothing, output: output?.fileDescriptor ?? nothing,
        error: error?.fileDescriptor ?? nothing, place: process_place_group)
      return unsafe process_spawn(&plan, &process)
    }
    guard code == 0 else { throw Failure("\(path) cannot be started: errno \(code)") }
    return RunningProgram(processIdentifier: process)
  }

  /// Calls a closure with lists of texts, each as a buffer of zero-terminated strings in sequence.
  private static func withTexts<Result>(
    _ lists: [[String]], _ body: ([UnsafePointer<CChar>?]) -> Result
  ) -> Result {
    let packed = unsafe lists.map { texts in
      let bytes = texts.flatMap { Array($0.utf8CString) }
      let copy = UnsafeMutableBufferPointer<CChar>.allocate(capacity: bytes.count)
      _ = unsafe copy.initialize(from: bytes)
      return unsafe copy
    }
    defer { for index in unsafe packed.indices { unsafe packed[index].deallocate() } }
    return unsafe body(packed.map { unsafe UnsafePointer($0.baseAddress) })
  }
}

/// A running program. The caller must wait for its end exactly once.
public struct RunningProgram: Sendable {
  public let processIdentifier: Int32

  /// Blocks the thread until the program has ended.
  ///
  /// - Returns: The exit status, or the number of the signal that ended the program.
  public func waitUntilExit() -> Int32 {
    var status: Int32 = 0
    while unsafe waitpid(processIdentifier, &status, 0) < 0, errno == EINTR {}
    let signal = status & 0x7F
    return signal == 0 ? status >> 8 & 0xFF : signal
  }

  /// Waits until the program has ended, without blocking a thread of Swift's tasks.
  ///
  /// If the task is cancelled, such as by the time limit of a test, this kills the program and its
  /// children.
  ///
  /// - Returns: The exit status, or the number of the signal that ended the program.
  public func end() async -> Int32 {
    await withTaskCancellationHandler {
      await onNewThread { waitUntilExit() }
    } onCancel: {
      kill(-processIdentifier, SIGKILL)
    }
  }
}
