/// The exit codes of the program.
enum ExitCode {
  static let success: Int32 = 0
  static let failure: Int32 = 1
  /// Invalid arguments, as in `sysexits.h`.
  static let usage: Int32 = 64

  /// Returns the code for a termination signal, as in shells.
  static func signalled(by signal: Int32) -> Int32 { 128 + signal }
}
