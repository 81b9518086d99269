import Synchronization

/// A value that a way needs before it can be timed. It is made on first use, in the round that does
/// not count, so that a way that is not selected costs nothing.
final class Prepared<Value: Sendable>: Sendable {
  private let made = Mutex<Value?>(nil)
  private let make: @Sendable () -> Value

  init(_ make: @escaping @Sendable () -> Value) { self.make = make }

  var value: Value {
    made.withLock { made in
      if let made { return made }
      let value = make()
      made = value
      return value
    }
  }
}
