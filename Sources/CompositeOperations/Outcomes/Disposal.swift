internal import Synchronization

/// Gives up a value that nobody will see. For the engine.
public typealias Disposal = @Sendable () -> Void

extension [Int: Disposal] {
  /// Gives up the values in the order of their indices.
  func disposeInOrder() {
    for (_, disposal) in sorted(by: { $0.key < $1.key }) { disposal() }
  }
}

/// Gives up one share of what several have: the last of them gives it up for all.
///
/// - Parameters:
///   - disposal: Gives up the whole.
///   - count: How many have it.
func disposalOfShare(of disposal: @escaping Disposal, among count: Int) -> Disposal {
  let shares = Shares(count)
  return { if shares.isLast() { disposal() } }
}

/// How many still have what they share.
private final class Shares: Sendable {
  private let left: Atomic<Int>

  init(_ count: Int) { left = Atomic(count) }

  func isLast() -> Bool {
    left.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue == 0
  }
}
