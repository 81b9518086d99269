internal import Synchronization

/// Gives up a value that nobody will see. For the engine.
public typealias Disposal = @Sendable () -> Void

extension [Int: Disposal] {
  /// Gives up the values in the order of their indices.
  func disposeInOrder() {
    // The value of a composite discards the values of its children, and these may be composites too.
    for (_, disposal) in sorted(by: { $0.key < $1.key }) { NestedCalls.make(.discard, disposal) }
  }
}

/// Combines the disposals of a composite's children; nil if there is nothing to discard.
///
/// - Parameters:
///   - disposals: The disposals of their values, by index.
///   - errors: Their errors, which may carry values.
func disposal(ofAll disposals: [Int: Disposal], and errors: [any Error] = []) -> Disposal? {
  let errors = errors.filter { $0 is any ValueCarrying }
  if disposals.isEmpty, errors.isEmpty { return nil }
  let all = StackSafe((disposals: disposals, errors: errors))
  return {
    all.value.disposals.disposeInOrder()
    for error in all.value.errors { error.discardCarriedValues() }
  }
}

/// Gives up one share of what several have: the last of them gives it up for all.
///
/// - Parameters:
///   - disposal: Gives up the whole.
///   - count: How many have it.
func disposalOfShare(of disposal: @escaping Disposal, among count: Int) -> Disposal {
  let (shares, whole) = (Shares(count), StackSafe(disposal))
  return { if shares.isLast() { NestedCalls.make(.discard, whole.value) } }
}

/// Counts the receivers that still hold a shared value.
final class Shares: Sendable {
  private let left: Atomic<Int>

  init(_ count: Int) { left = Atomic(count) }

  /// Releases one share. Each receiver calls it once.
  ///
  /// - Returns: Whether it was the last share.
  func isLast() -> Bool {
    left.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue == 0
  }
}
