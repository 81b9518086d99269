public import CompositeOperations
public import Foundation

extension ProgressObserver {
  /// Creates an observer that updates a `Foundation.Progress`, for code that displays or combines
  /// those.
  ///
  /// ```swift
  /// import CompositeOperationsFoundation
  ///
  /// let progress = Progress(totalUnitCount: -1)
  /// let run = sync.start(
  ///   in: OperationEnvironment(observers: [ProgressObserver(updating: progress)]))
  /// progress.cancellationHandler = { run.cancel() }
  /// ```
  ///
  /// If the run reports a total number of units, the progress has that number of units; otherwise
  /// it has 1,000. While the total is unknown, the progress is indeterminate.
  ///
  /// - Parameter progress: The progress to update. It is changed on the threads of the run, by one
  ///   of them at a time.
  public convenience init(updating progress: Progress) {
    progress.totalUnitCount = -1
    self.init { progress.show($0) }
  }
}

extension Progress {
  fileprivate func show(_ progress: OperationProgress) {
    guard let fraction = progress.fraction else {
      totalUnitCount = -1
      completedUnitCount = Int64(progress.completed)
      return
    }
    let total = progress.total.flatMap { $0 > 0 ? Int64($0) : nil } ?? 1_000
    // Computed from the fraction, which never decreases, as the units may.
    let completed = fraction == 1 ? total : min(Int64(fraction * Double(total) + 1e-9), total - 1)
    // A parent treats a progress whose units are all completed as finished. It must not look so too
    // early.
    if completed < completedUnitCount { completedUnitCount = completed }
    if totalUnitCount != total { totalUnitCount = total }
    completedUnitCount = completed
  }
}
