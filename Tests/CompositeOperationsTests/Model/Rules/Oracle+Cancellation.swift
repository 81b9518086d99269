extension Oracle {
  /// The maximum number of checks by which a body observes a cancellation that the end of a sibling
  /// causes. At worst, each check has an even chance to precede one of a few tasks that deliver it.
  private static let maximumMissedChecks = 40

  /// Checks that a run is cancelled when it should be, and not otherwise.
  ///
  /// A cancellation from outside is visible everywhere immediately (O3, C2). A cancellation that
  /// the end of a sibling causes takes some time.
  mutating func checkedCancellation(_ run: NodeRun, _ isCancelled: Bool) {
    let node = "n\(run.place.node.id)"
    if isCancelled {
      expect(hasReason(toCancel: run), "P3, P7: \(node) was cancelled without a reason")
    } else {
      expect(
        !self.isCancelled || mayLag(run), "O3, C2: the cancellation did not reach \(node)")
      expect(
        !run.wasKnownCancelled || mayLag(run), "O3: \(node) was cancelled, and later was not")
      if order == .total, run.isBelowStop {
        run.missedChecks += 1
        expect(
          run.missedChecks <= Self.maximumMissedChecks,
          "P3, P7: \(node) was not cancelled by its composite in time")
      }
    }
    run.isKnownCancelled = isCancelled
  }

  /// Whether a cancellation may reach a run later than others: a task with a higher priority is not
  /// a child of the task that waits for it, and is cancelled separately.
  func mayLag(_ run: NodeRun) -> Bool { order == .partial && run.place.isRaised }

  /// Whether a cancellation from outside, an enclosing composite or an enclosing timeout cancels
  /// the run.
  func hasReason(toCancel run: NodeRun) -> Bool {
    isCancellationRequested || run.isBelowStop || mayBeTooLate(run)
  }
}

extension NodeRun {
  /// Whether an enclosing composite has cancelled its children.
  fileprivate var isBelowStop: Bool {
    var run = parent
    while let above = run {
      if above.stop != nil { return true }
      run = above.parent
    }
    return false
  }

  /// Whether the run or an ancestor has observed its cancellation.
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
  /// O2: a run begins after the cancellation only if it has checked for it before: at most one run
  /// for each worker.
  mutating func checkLateBeginnings(atMost workers: Int, _ entries: [Entry]) {
    guard let time = entries.firstIndex(of: .cancelled) else { return }
    let begun = entries[time...].count { entry in
      guard case .began(let node, _) = entry, let place = places[node] else { return false }
      return !place.isRaised && !place.isPart
    }
    expect(begun <= workers, "O2: \(begun) runs began after everything had been cancelled")
  }
}
