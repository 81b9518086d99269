internal import Synchronization

/// A closure that discards a value that reaches no outcome. For the engine.
@_documentation(visibility: internal)
public typealias Cleanup = @Sendable () -> Void

extension [Int: Cleanup] {
  /// Discards the values in the order of their indices.
  func runInOrder() {
    // Discarding the value of a composite discards the values of its children, which may be
    // composites too.
    for (_, cleanup) in sorted(by: { $0.key < $1.key }) { NestedCalls.make(.discard, cleanup) }
  }
}

/// Returns a closure that discards the values of a composite's children; nil if there are none.
///
/// - Parameters:
///   - cleanups: The cleanups of the values, by the index of the child.
///   - errors: The errors of the children, which may carry values.
func cleanup(ofAll cleanups: [Int: Cleanup], and errors: [any Error] = []) -> Cleanup? {
  let errors = errors.filter { $0 is any ValueCarrying }
  if cleanups.isEmpty, errors.isEmpty { return nil }
  let all = StackSafe((cleanups: cleanups, errors: errors))
  return {
    all.value.cleanups.runInOrder()
    for error in all.value.errors { error.discardCarriedValues() }
  }
}

/// Returns a closure that releases one share of a value; releasing the last share discards the
/// value.
///
/// - Parameters:
///   - cleanup: Discards the value.
///   - count: The number of shares.
func cleanupOfShare(of cleanup: @escaping Cleanup, among count: Int) -> Cleanup {
  let (shares, whole) = (Shares(count), StackSafe(cleanup))
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

/// An error that carries the values of other operations, such as the evidence of a composite.
protocol ValueCarrying: Error {
  /// The counts of the error's receivers, one for each time that it was shared. The last receiver
  /// discards the values.
  var shares: [Shares] { get set }

  /// Discards the values that the error itself carries.
  func discardOwnValues()

  /// The errors that it contains, which may carry values too.
  var carriedErrors: [any Error] { get }
}

extension Error {
  /// Discards the values that the error carries, for an error that reaches no outcome.
  @usableFromInline package func discardCarriedValues() {
    guard let carrying = self as? any ValueCarrying else { return }
    // A loop: errors nest to any depth.
    var errors = [carrying]
    while let error = errors.popLast() {
      guard error.shares.reversed().allSatisfy({ $0.isLast() }) else { continue }
      error.discardOwnValues()
      errors += error.carriedErrors.reversed().compactMap { $0 as? any ValueCarrying }
    }
  }

  /// Discards the values that the error carries; nil if it carries none.
  @usableFromInline var cleanupOfCarriedValues: Cleanup? {
    guard self is any ValueCarrying else { return nil }
    return { discardCarriedValues() }
  }

  /// Returns the error for several receivers. The last one to discard it discards the carried
  /// values.
  func shared(among count: Int) -> any Error {
    guard count > 1, var carrying = self as? any ValueCarrying else { return self }
    carrying.shares.append(Shares(count))
    return carrying
  }
}
