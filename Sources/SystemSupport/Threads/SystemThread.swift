internal import CProcesses

/// Threads for work that must continue while every thread of Swift's pool is occupied.
///
/// They are created without Foundation, which on Linux does not report a failure.
package enum SystemThread {
  /// Calls a function on a new, detached thread.
  ///
  /// - Parameter name: The name of the thread for debuggers, cut to the maximum length of the system.
  /// - Returns: 0, or the `errno` of the system if it created no thread.
  package static func start(
    named name: String, _ body: @escaping @Sendable () -> Void
  ) -> Int32 {
    let context = unsafe Unmanaged.passRetained(Body(body)).toOpaque()
    let code = unsafe process_start_named_thread(
      name,
      { context in
        guard let context = unsafe context else { return }
        unsafe Unmanaged<Body>.fromOpaque(context).takeRetainedValue().call()
      }, context)
    if code != 0 { unsafe Unmanaged<Body>.fromOpaque(context).release() }
    return code
  }

  /// Calls a function on a new, detached thread without a name.
  ///
  /// - Returns: Whether the system started the thread.
  package static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
    start(named: "", body) == 0
  }

  /// How much of its stack a thread uses.
  package enum StackUse: Sendable {
    case belowHalf
    case half
    /// The system does not report the stack, or the code runs on one of its own.
    case unknown
  }

  /// Whether the calling thread uses half of its stack or more. Of a stack larger than 8 MiB, only
  /// the first 8 MiB count.
  package static var stackUse: StackUse {
    switch process_stack_use() {
    case process_stack_use_below_half: .belowHalf
    case process_stack_use_half: .half
    default: .unknown
    }
  }

  private final class Body: Sendable {
    let call: @Sendable () -> Void

    init(_ call: @escaping @Sendable () -> Void) { self.call = call }
  }
}
