/// How a child of a composite ended: one byte per child.
@usableFromInline enum ChildState: UInt8, Sendable {
  case notBegun
  /// It ended in a result, which is in its slot.
  case result
  /// It returned a value after it was cancelled. The value is in its slot.
  case lateResult
  case error
  /// It ended as cancelled, although it was not cancelled.
  case cancelledItself
  /// It was cancelled with its composite, by the end of a sibling or from outside.
  case cancelledWithComposite
  /// It is a node of a graph and could not begin, because a node that it needs gave no result.
  case withoutInput

  /// Decides how a child ended whose body has thrown (O3, O4). Discards the values that the error
  /// carries, unless it becomes the outcome.
  init(endedBy error: any Error, wasCancelled: Bool) {
    if !wasCancelled, !error.meansCancellation {
      self = .error
    } else {
      // The cast to a protocol takes longer than most children need to notice a cancellation.
      if !(error is CancellationError) { error.discardCarriedValues() }
      self = wasCancelled ? .cancelledWithComposite : .cancelledItself
    }
  }

  /// Decides how an observed child ended. Its late outcome has been discarded; a late value is still
  /// in its slot.
  init(of completion: Completion<Void>) {
    if completion.error != nil {
      self = .error
    } else if !completion.isCancelled {
      self = .result
    } else if completion.hasLateValue {
      self = .lateResult
    } else {
      self = completion.wasCancelled ? .cancelledWithComposite : .cancelledItself
    }
  }

  /// Whether it failed or cancelled itself.
  var isOwnLoss: Bool { self == .error || self == .cancelledItself }

  /// Whether its slot holds a value.
  var hasValue: Bool { self == .result || self == .lateResult }

  /// Moves the value out of the child's slot, if there is one, and returns the outcome.
  ///
  /// - Parameter error: The error of the child; nil if it did not fail.
  @inlinable func outcome<Value>(
    from slot: UnsafeMutablePointer<Value>, error: @autoclosure () -> (any Error)?
  ) -> Outcome<Value> {
    switch self {
    case .result: return .result(unsafe slot.move())
    case .lateResult:
      unsafe slot.deinitialize(count: 1)
      return .cancelled
    case .error: return error().map(Outcome.error) ?? .cancelled
    case .notBegun, .cancelledItself, .cancelledWithComposite, .withoutInput: return .cancelled
    }
  }
}
