import CompositeOperations
import Foundation

/// How many crashes the tests of this folder cause.
///
/// `COMPOSITE_CRASHES=1000` kills a thousand processes in each test, and runs random flows in the
/// same proportion. `COMPOSITE_CRASH_SEED=17` begins with the seed that a failure has shown.
enum CrashSettings {
  /// The number from the environment; nil for the default of each test.
  static let crashes = ProcessInfo.processInfo.environment["COMPOSITE_CRASHES"].flatMap(Int.init)

  /// The seed from the environment, or a new one.
  static func firstSeed() -> UInt64 {
    ProcessInfo.processInfo.environment["COMPOSITE_CRASH_SEED"].flatMap { UInt64($0) }
      ?? UInt64.random(in: 0..<1 << 32)
  }

  /// The default of a test: fewer crashes without optimization.
  static func count(debug: Int, release: Int) -> Int {
    #if DEBUG || SANITIZER
      return crashes ?? debug
    #else
      return crashes ?? release
    #endif
  }
}
