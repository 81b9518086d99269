internal import CProcesses
public import Foundation

/// A program that a test runs.
///
/// `Foundation.Process` is none for the bundle of all tests: where more than some 1,300 files are open, it reads beyond
/// the end of what the system gives it (Swift 6.3), and once in a while a signal ends all tests.
public struct TestProgram: Sendable {
  public struct Failure: Error, CustomStringConvertible {
    public let description: String
  }

  public let path: String
  public var arguments: [String]
  /// Where it works; nil for where the test does.
  public var folder: String?
  /// Nil for that of the test.
  public var environment: [String: String]?

  public init(
    _ path: String, _ arguments: [String] = [], in folder: String? = nil,
    environment: [String: String]? = nil
  ) {
    (self.path, self.arguments) = (path, arguments)
    (self.folder, self.environment) = (folder, environment)
  }

  /// Begins it, with nothing to read, as the leader of a process group of its own.
  ///
  /// - Parameters:
  ///   - output: Where its output goes; nil for nowhere.
  ///   - error: Where its errors go; nil for nowhere.
  /// - Returns: The process, whose end somebody has to wait for.
  public func start(output: FileHandle? = nil, error: FileHandle? = nil) throws -> RunningProgram {
    let arguments = [path] + arguments
    let variables = (environment ?? ProcessInfo.processInfo.environment).map { "\($0)=\($1)" }
    let nothing = Int32(process_stream_null)
    var process: pid_t = 0
    let code = unsafe Self.withTexts([[path], arguments, variables, [folder ?? "."]]) { texts in
      var plan = unsafe process_plan(
        program: texts[0], arguments: texts[1], argument_count: arguments.count,
        variables: texts[2], variable_count: variables.count, folder: texts[3], input: nothing,
        output: output?.fileDescriptor ?? nothing, error: error?.fileDescriptor ?? nothing)
      return unsafe process_spawn(&plan, &process)
    }
    guard code == 0 else { throw Failure(description: "\(path) cannot be started: errno \(code)") }
    return RunningProgram(processIdentifier: process)
  }

  /// Gives lists of texts to a body, each with its texts one behind another and a zero byte behind each.
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

/// A program that was begun. One waits for its end, once.
public struct RunningProgram: Sendable {
  public let processIdentifier: Int32

  /// Waits for its end, on this thread.
  ///
  /// - Returns: Its status, or the number of the signal that has ended it.
  public func waitUntilExit() -> Int32 {
    var status: Int32 = 0
    while unsafe waitpid(processIdentifier, &status, 0) < 0, errno == EINTR {}
    let signal = status & 0x7F
    return signal == 0 ? status >> 8 & 0xFF : signal
  }

  /// Waits for its end, and keeps no thread of Swift's tasks waiting.
  ///
  /// - Returns: Its status, or the number of the signal that has ended it.
  public func end() async -> Int32 {
    await withCheckedContinuation { waiter in
      Thread.detachNewThread { waiter.resume(returning: waitUntilExit()) }
    }
  }
}
