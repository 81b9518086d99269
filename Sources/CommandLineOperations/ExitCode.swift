/// The exit codes of the program.
public enum ExitCode {
  public static let success: Int32 = 0
  public static let failure: Int32 = 1
  /// Invalid arguments, as in `sysexits.h`.
  public static let usage: Int32 = 64

  /// Returns the code for a termination signal, as in shells.
  public static func signalled(by signal: Int32) -> Int32 { 128 + signal }
}
