/// How a program ended, and what it wrote.
public struct ProcessResult: Sendable, Hashable {
  public let status: ProcessStatus
  /// What was kept of standard output.
  public let output: ProcessOutput
  /// What was kept of standard error.
  public let errorOutput: ProcessOutput
}
