import Synchronization

/// A sum that several tasks add to.
final class Sum: Sendable {
  private let sum = Atomic<UInt64>(0)

  var value: UInt64 { sum.load(ordering: .relaxed) }

  func add(_ value: UInt64) { sum.wrappingAdd(value, ordering: .relaxed) }
}
