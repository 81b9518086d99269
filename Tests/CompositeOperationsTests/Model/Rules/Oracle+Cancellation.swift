extension Oracle {
  /// How often a body may look in vain for a cancellation that a sibling's end brings it: every look
  /// is at worst a toss-up with one of a few tasks that bring it.
  private static let maximumMissedChecks = 40

  /// Judges whether a run is cancelled when it should be, and not otherwise.
  ///
  /// A cancellation from outside is everywhere at once (O3, C2). One that a sibling's end causes is
  /// on its way for some time.
  mutating func checkedCancellation(_ run: NodeRun, _ isCancelled: Bool) {
    let node = "n\(run.place.node.id)"
    if isCancelled {
      expect(hasReason(toCancel: run), "P3, P7: \(node) was cancelled, and nobody had a reason to")
    } else {
      expect(
        !self.isCancelled || mayLag(run), "O3, C2: the cancellation did not reach \(node)")
      expect(
        !run.wasKnownCancelled || mayLag(run), "O3: \(node) was cancelled and then it was not")
      if order == .total, run.isBelowStop {
        run.missedChecks += 1
        expect(
          run.missedChecks <= Self.maximumMissedChecks,
          "P3, P7: \(node) went on when its composite should long have cancelled it")
      }
    }
    run.isKnownCancelled = isCancelled
  }

  /// Whether a cancellation may reach a run a moment later than others: a task at a higher priority
  /// is not part of the one that waits for it, and has to be told.
  func mayLag(_ run: NodeRun) -> Bool { order == .partial && run.place.isRaised }

  /// Whether somebody outside, a composite above or the end of its time cancels the run.
  func hasReason(toCancel run: NodeRun) -> Bool {
    isCancellationRequested || run.isBelowStop || mayBeTooLate(run)
  }
}

extension NodeRun {
  /// Whether a composite above it has cancelled what it runs.
  fileprivate var isBelowStop: Bool {
    var run = parent
    while let above = run {
      if above.stop != nil { return true }
      run = above.parent
    }
    return false
  }

  /// Whether it, or what it is a part of, has been seen to be cancelled.
  fileprivate var wasKnownCancelled: Bool {
    var run: NodeRun? = self
    while let here = run {
      if here.isKnownCancelled { return true }
      run = here.parent
    }
    return false
  }
}

extension Oracle {
  /// O2: when a cancellation is over, nobody begins who has not looked before: at most one run a
  /// worker.
  mutating func checkLateBeginnings(atMost workers: Int, _ entries: [Entry]) {
    guard let time = entries.firstIndex(of: .cancelled) else { return }
    let begun = entries[time...].count { entry in
      guard case .began(let node, _) = entry, let place = places[node] else { return false }
      return !place.isRaised && !place.isPart
    }
    expect(begun <= workers, "O2: \(begun) runs began when everything was cancelled")
  }
}
