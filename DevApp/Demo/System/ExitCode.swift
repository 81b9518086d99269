/// What the program ends with.
enum ExitCode {
  static let success: Int32 = 0
  static let failure: Int32 = 1
  /// The arguments are wrong, as `sysexits.h` has it.
  static let usage: Int32 = 64

  /// A signal that asked for the end, as shells have it.
  static func signalled(by signal: Int32) -> Int32 { 128 + signal }
}
