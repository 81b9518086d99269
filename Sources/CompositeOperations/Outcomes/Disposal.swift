internal import Synchronization

/// A closure that discards a value that reaches no outcome. For the engine.
public typealias Disposal = @Sendable () -> Void

extension [Int: Disposal] {
  /// Discards the values in the order of their indices.
  func disposeInOrder() {
    // Discarding the value of a composite discards the values of its children, which may be
    // composites too.
    for (_, disposal) in sorted(by: { $0.key < $1.key }) { NestedCalls.make(.discard, disposal) }
  }
}

/// Returns a closure that discards the values of a composite's children; nil if there are none.
///
/// - Parameters:
///   - disposals: The disposals of the values, by the index of the child.
///   - errors: The errors of the children, which may carry values.
func disposal(ofAll disposals: [Int: Disposal], and errors: [any Error] = []) -> Disposal? {
  let errors = errors.filter { $0 is any ValueCarrying }
  if disposals.isEmpty, errors.isEmpty { return nil }
  let all = StackSafe((disposals: disposals, errors: errors))
  return {
    all.value.disposals.disposeInOrder()
    for error in all.value.errors { error.discardCarriedValues() }
  }
}

/// Returns a closure that releases one share of a value; releasing the last share discards the
/// value.
///
/// - Parameters:
///   - disposal: Discards the value.
///   - count: The number of shares.
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
