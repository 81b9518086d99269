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
