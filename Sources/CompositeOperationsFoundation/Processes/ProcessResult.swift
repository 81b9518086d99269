/// The status and the output of a program that has ended.
public struct ProcessResult: Sendable, Hashable {
  /// How the program ended.
  public let status: ProcessStatus
  /// The kept part of standard output.
  public let output: ProcessOutput
  /// The kept part of standard error.
  public let errorOutput: ProcessOutput
}
