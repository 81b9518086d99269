#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// Threads for work that must continue while every thread of Swift's pool is occupied.
package enum SystemThread {
  /// The smallest stack of a thread, in bytes.
  private static let smallestStack = 1 << 20

  /// Calls a function on a new, detached thread.
  ///
  /// - Returns: Whether the system started the thread.
  package static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
    let argument = unsafe Unmanaged.passRetained(Body(body)).toOpaque()
    var attributes = pthread_attr_t()
    unsafe pthread_attr_init(&attributes)
    unsafe pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    defer { unsafe pthread_attr_destroy(&attributes) }
    // The default of some systems is too small for the cancellation handlers of deep compositions.
    var stackSize = 0
    unsafe pthread_attr_getstacksize(&attributes, &stackSize)
    if stackSize < smallestStack { unsafe pthread_attr_setstacksize(&attributes, smallestStack) }
    #if canImport(Darwin)
      var thread: pthread_t?
    #else
      var thread = pthread_t()
    #endif
    let code = unsafe pthread_create(&thread, &attributes, run, argument)
    if code != 0 { unsafe Unmanaged<Body>.fromOpaque(argument).release() }
    return code == 0
  }

  private final class Body: Sendable {
    let call: @Sendable () -> Void
    init(_ call: @escaping @Sendable () -> Void) { self.call = call }
  }

  #if canImport(Darwin)
    private static let run: @convention(c) (UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? = {
      unsafe Unmanaged<Body>.fromOpaque($0).takeRetainedValue().call()
      return nil
    }
  #else
    private static let run: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? =
      {
        if let argument = unsafe $0 {
          unsafe Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().call()
        }
        return nil
      }
  #endif
}
