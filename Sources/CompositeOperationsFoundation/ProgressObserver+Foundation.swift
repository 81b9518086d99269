public import CompositeOperations
public import Foundation

extension ProgressObserver {
  /// Sees how far runs are and tells a `Foundation.Progress`, for what shows or sums up one of those.
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
  /// Where the run says how many units there are, these are the units of the progress; else there are 1,000.
  /// As long as nobody knows how much there is to do it is indeterminate.
  ///
  /// - Parameter progress: Is changed by the threads that the run is on, one at a time.
  public convenience init(updating progress: Progress) {
    progress.totalUnitCount = -1
    self.init { progress.show($0) }
  }
}

extension Progress {
  fileprivate func show(_ progress: OperationProgress) {
    if let total = progress.total, total > 0, progress.fraction != nil {
      totalUnitCount = Int64(total)
      completedUnitCount = progress.fraction == 1 ? Int64(total) : Int64(progress.completed)
    } else if let fraction = progress.fraction {
      totalUnitCount = 1_000
      completedUnitCount = Int64(fraction * 1_000)
    } else {
      totalUnitCount = -1
      completedUnitCount = Int64(progress.completed)
    }
  }
}
