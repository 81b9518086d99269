#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// The one fault that this process is to have: the mutation check adds this file to its copy of the
/// package, and its patches ask here.
@usableFromInline enum Mutant {
  private static let chosen: String? = unsafe getenv("MUTANT").map { unsafe String(cString: $0) }

  @usableFromInline static func `is`(_ name: String) -> Bool {
    guard let chosen else { return false }
    return chosen == name
  }

  /// What no body throws by itself.
  @usableFromInline struct Fault: Error {
    @usableFromInline init() {}
  }
}
