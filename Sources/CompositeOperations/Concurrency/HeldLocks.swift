internal import SystemSupport

/// Counts the package's locks that the calling thread holds. Tests use it to check that no user
/// code runs under a lock.
///
/// Only debug builds count. In a release build the count is always 0 and costs nothing.
package enum HeldLocks {
  #if DEBUG
    private static let word = ThreadLocalWord()

    package static var count: Int {
      get { unsafe Int(bitPattern: word.value) }
      set { unsafe word.value = UnsafeMutableRawPointer(bitPattern: newValue) }
    }
  #else
    package static var count: Int { 0 }
  #endif

  /// Whether locks are counted.
  package static var isCounting: Bool {
    #if DEBUG
      true
    #else
      false
    #endif
  }

  @inline(__always) static func acquired() {
    #if DEBUG
      count += 1
    #endif
  }

  @inline(__always) static func released() {
    #if DEBUG
      count -= 1
    #endif
  }
}
