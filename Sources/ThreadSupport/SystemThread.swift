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

  /// How many whole quarters of its stack the calling thread uses, from 0 to 4.
  ///
  /// Of a stack larger than 512 KiB, only the first 512 KiB count, and more than these is 4. Nil if
  /// the system does not report the stack, or if the code runs on another one, such as that of a
  /// fiber.
  package static var usedQuartersOfStack: Int? {
    let quarters = process_stack_quarters()
    return quarters < 0 ? nil : Int(quarters)
  }

  private final class Body: Sendable {
    let call: @Sendable () -> Void

    init(_ call: @escaping @Sendable () -> Void) { self.call = call }
  }
}
