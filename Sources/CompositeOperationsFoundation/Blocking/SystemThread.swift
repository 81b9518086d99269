internal import CProcesses

/// A thread that is made without the help of Foundation, which on Linux does not tell when there is none.
package enum SystemThread {
  /// Calls a function on a new thread.
  ///
  /// - Returns: 0, or why the system made none, one of `errno`.
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
