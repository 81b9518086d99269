internal import ThreadSupport

/// A trampoline: makes calls that nest to any depth on a bounded stack.
///
/// The first levels nest as usual. Deeper calls are queued, and the outermost call of the thread
/// makes them before it returns. So when the outermost call returns, all nested calls are done. Calls
/// of the kind `closure` are only counted.
///
/// The state is thread-local: nothing here locks or waits.
enum NestedCalls {
  /// The purpose of a call. Each kind has a depth and a queue of its own.
  enum Kind: Int {
    /// Frees a value that may hold other values.
    case release
    /// Discards a value that reaches no outcome, which may contain other such values.
    case discard
    /// Cancels a task, which may cancel other tasks in its cancellation handlers.
    case cancel
    /// Runs a closure of the user on the stack of its run. Nested ones are never queued: they run
    /// in ordinary tasks.
    case closure

    fileprivate static var count: Int { 4 }

    /// How many calls nest.
    fileprivate var limit: Int {
      switch self {
      case .release, .discard: 32
      // In each call the Swift runtime cancels up to 96 levels of composites recursively, with up
      // to three child tasks for each, which takes 300 bytes for a task.
      case .cancel: 2
      case .closure: 1
      }
    }
  }

  /// The calls of one kind on one thread.
  private struct Calls {
    var depth = 0
    var queue: [() -> Void] = []
  }

  /// Makes a call, or queues it for the outermost call.
  static func make(_ kind: Kind, _ call: @escaping () -> Void) {
    if begin(kind) { call() } else { queue(call, as: kind) }
    end(kind)
  }

  /// Begins a call. The caller calls ``end(_:)`` after it.
  ///
  /// - Returns: Whether the caller makes the call now. Otherwise it queues the call, or makes it in
  ///   a task.
  @inline(__always) static func begin(_ kind: Kind) -> Bool {
    let calls = unsafe calls(of: kind)
    unsafe calls.pointee.depth += 1
    return unsafe calls.pointee.depth <= kind.limit
  }

  /// Queues a call for the outermost call.
  @inline(never) static func queue(_ call: @escaping () -> Void, as kind: Kind) {
    unsafe calls(of: kind).pointee.queue.append(call)
  }

  /// Ends a call. The outermost call first makes the queued calls, including those that these
  /// queue.
  @inline(__always) static func end(_ kind: Kind) {
    let calls = unsafe calls(of: kind)
    if unsafe calls.pointee.depth == 1 {
      // The depth is still 1 while a call is made and released, so that calls from it are nested.
      while let call = unsafe calls.pointee.queue.popLast() { call() }
    }
    unsafe calls.pointee.depth -= 1
  }

  // MARK: Thread-local state

  /// The address of the calls of the thread.
  // Safe: only its thread uses the memory, and the memory is freed when the thread ends.
  private static let memory = unsafe ThreadLocalWord { memory in
    guard let memory = unsafe memory else { return }
    let calls = unsafe memory.assumingMemoryBound(to: Calls.self)
    unsafe calls.deinitialize(count: Kind.count)
    unsafe calls.deallocate()
  }

  @inline(__always) private static func calls(of kind: Kind) -> UnsafeMutablePointer<Calls> {
    guard let memory = unsafe memory.value else { return unsafe begin(kind) }
    return unsafe memory.assumingMemoryBound(to: Calls.self) + kind.rawValue
  }

  @inline(never) private static func begin(_ kind: Kind) -> UnsafeMutablePointer<Calls> {
    let calls = UnsafeMutablePointer<Calls>.allocate(capacity: Kind.count)
    unsafe calls.initialize(repeating: Calls(), count: Kind.count)
    unsafe memory.value = UnsafeMutableRawPointer(calls)
    return unsafe calls + kind.rawValue
  }
}

/// A box for a value that may contain boxes of the same kind, freed on a bounded stack.
///
/// Swift frees nested values recursively: a thousand levels of operations, errors or results take
/// most of a stack of 512 KiB. With a box at every level, a loop frees them (see ``NestedCalls``).
@usableFromInline final class StackSafe<Value: Sendable>: Sendable {
  @usableFromInline let value: Value
  @usableFromInline let release = NestedRelease()

  @inlinable init(_ value: consuming Value) { self.value = value }

  deinit { NestedRelease.begin(value) }
}

/// Makes a class stack-safe: the last stored property of a class whose instances nest to any depth.
///
/// The `deinit` of the class calls ``begin(_:)`` with the value that the instance holds. Swift then
/// frees the stored properties in the order of their declarations. This one is the last, and ends
/// the call.
@usableFromInline struct NestedRelease: ~Copyable, Sendable {
  @inlinable init() {}

  /// Begins to free a value, or keeps it for the outermost call to free.
  @inline(__always) static func begin<Value>(_ value: @autoclosure () -> Value) {
    if NestedCalls.begin(.release) { return }
    let value = value()
    NestedCalls.queue({ withExtendedLifetime(value) {} }, as: .release)
  }

  deinit { NestedCalls.end(.release) }
}
