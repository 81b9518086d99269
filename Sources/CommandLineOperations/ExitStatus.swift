/// The exit statuses of command-line programs.
public enum ExitStatus {
  /// The work is done: 0.
  public static let success: Int32 = 0
  /// The work failed: 1.
  public static let failure: Int32 = 1
  /// The arguments are invalid: 64, as in `sysexits.h`.
  public static let usage: Int32 = 64

  /// Returns the status of a program that ends because of a signal: 128 and the number of the signal,
  /// as in shells.
  public static func signalled(by signal: Int32) -> Int32 { 128 + signal }
}
