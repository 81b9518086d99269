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
    guard let fraction = progress.fraction else {
      totalUnitCount = -1
      completedUnitCount = Int64(progress.completed)
      return
    }
    let total = progress.total.flatMap { $0 > 0 ? Int64($0) : nil } ?? 1_000
    // What it has of them by the fraction, which never goes back as the units may.
    let completed = fraction == 1 ? total : min(Int64(fraction * Double(total) + 1e-9), total - 1)
    // A progress with as many units as it has to do is over for whoever sums it up: it must never look so.
    if completed < completedUnitCount { completedUnitCount = completed }
    if totalUnitCount != total { totalUnitCount = total }
    completedUnitCount = completed
  }
}
