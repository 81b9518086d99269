public import Foundation

/// The exit status and the outputs of a program.
public struct ProgramResult: Sendable {
  public let status: Int32
  public let output: Data
  public let error: String

  public init(status: Int32, output: Data, error: String) {
    self.status = status
    self.output = output
    self.error = error
  }

  public var text: String { String(decoding: output, as: UTF8.self) }
}

/// The signals that request a program to end.
public let terminationSignals = [SIGINT, SIGTERM, SIGHUP]

#if os(Linux)
  /// The signals in a mask of a process, such as `SigIgn` or `SigCgt`.
  public func signals(_ mask: String, of process: Int32) -> Set<Int32> {
    let status = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
    let line = status?.split(separator: "\n").first { $0.hasPrefix("\(mask):") }
    let bits = line?.split(separator: "\t").last.flatMap { UInt64($0, radix: 16) } ?? 0
    return Set((1...64).filter { bits & 1 << UInt64($0 - 1) != 0 })
  }
#endif

/// A command line that a test runs.
public struct Program: Sendable {
  public var executable: URL
  public var arguments: [String]
  public var folder: URL?
  public var output: URL?
  /// Variables that are added to the environment of the test.
  public var environment: [String: String] = [:]
  /// Whether the program runs at the lowest priority: for work that runs until a test ends it.
  public var isNice = false

  public init(executable: URL, arguments: [String], folder: URL? = nil, output: URL? = nil) {
    self.executable = executable
    self.arguments = arguments
    self.folder = folder
    self.output = output
  }

  /// A program of this package, in the folder that contains the built tests.
  public static func built(
    _ name: String, _ arguments: [String], in folder: URL? = nil
  ) -> Program {
    let tests = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    let folderOfTests =
      FileManager.default.fileExists(atPath: tests.path)
      ? tests.deletingLastPathComponent() : Bundle.main.bundleURL.deletingLastPathComponent()
    return Program(
      executable: folderOfTests.appendingPathComponent(name), arguments: arguments,
      folder: folder)
  }

  /// A program of the system, or nil if it is not installed.
  public static func installed(_ name: String, _ arguments: String...) -> Program? {
    for folder in ["/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"] {
      let path = "\(folder)/\(name)"
      if FileManager.default.isExecutableFile(atPath: path) {
        return Program(executable: URL(fileURLWithPath: path), arguments: arguments)
      }
    }
    return nil
  }

  /// The program as a user who is not root; nil if this process is root and cannot change that.
  ///
  /// - Parameters:
  ///   - folder: Where root copies the executable to, because others cannot read the folder of the
  ///     built tests.
  ///   - user: The number of the user. The page does not know the users of `nobody` (65534) apart.
  public func withoutPrivileges(
    copiedTo folder: TemporaryFolder, as user: Int = 1
  ) async throws -> Program? {
    guard geteuid() == 0 else { return self }
    guard let setpriv = Program.installed("setpriv") else { return nil }
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path)
    let copy = folder.url.appendingPathComponent(executable.lastPathComponent)
    // Another process copies: a child that another test starts while this process has the copy open
    // for writing inherits the open file, and the copy cannot be executed before that child ends.
    let copied = try await TestProgram("/bin/cp", [executable.path, copy.path]).start().end()
    guard copied == 0 else { throw CocoaError(.fileWriteUnknown) }
    var program = self
    program.executable = setpriv.executable
    program.arguments = ["--reuid=\(user)", "--clear-groups", copy.path] + arguments
    return program
  }

  /// Runs the program to its end without blocking a thread of Swift's tasks.
  ///
  /// - Parameter during: A closure that is called with the process identifier while the program
  ///   runs.
  public func run(during: (Int32) async throws -> Void = { _ in }) async throws -> ProgramResult {
    let program = TestProgram(
      isNice ? "/usr/bin/nice" : executable.path,
      isNice ? ["-n", "19", executable.path] + arguments : arguments, in: folder?.path,
      environment: ProcessInfo.processInfo.environment.merging(environment) { $1 })
    // Files instead of pipes, because they need no reader while the program runs.
    let files = try TemporaryFolder()
    let outputFile = output ?? files.url.appendingPathComponent("output")
    let errorFile = files.url.appendingPathComponent("error")
    for file in [outputFile, errorFile] where !FileManager.default.fileExists(atPath: file.path) {
      try Data().write(to: file)
    }
    let process = try program.start(
      output: FileHandle(forWritingTo: outputFile), error: FileHandle(forWritingTo: errorFile))
    async let status = process.end()
    do { try await during(process.processIdentifier) } catch {
      kill(process.processIdentifier, SIGKILL)
      throw error
    }
    return ProgramResult(
      status: await status,
      output: output == nil ? try Data(contentsOf: outputFile) : Data(),
      error: String(decoding: try Data(contentsOf: errorFile), as: UTF8.self))
  }
}

/// Whether a process has ended, whether or not its parent has noticed.
public func hasEnded(_ process: Int32) -> Bool {
  let status = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
  return status.map { $0.contains(") Z ") } ?? true
}
