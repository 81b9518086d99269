internal import CProcesses

/// A thread that is created without Foundation, which on Linux does not report a failure.
package enum SystemThread {
  /// Calls a function on a new thread.
  ///
  /// - Returns: 0, or the `errno` of the system if it created none.
  package static func start(
    called name: String, _ function: @escaping @Sendable () -> Void
  ) -> Int32 {
    let context = unsafe Unmanaged.passRetained(Body(function)).toOpaque()
    let code = unsafe process_start_named_thread(
      name,
      { context in
        guard let context = unsafe context else { return }
        unsafe Unmanaged<Body>.fromOpaque(context).takeRetainedValue().function()
      }, context)
    if code != 0 { unsafe Unmanaged<Body>.fromOpaque(context).release() }
    return code
  }

  private final class Body: Sendable {
    let function: @Sendable () -> Void

    init(_ function: @escaping @Sendable () -> Void) { self.function = function }
  }
}
