internal import ThreadSupport

/// Reports of cancellations, made outside the lock that Swift holds for cancellation handlers.
///
/// Swift calls the handlers of a task, and of its child tasks, on the cancelling thread and under a
/// lock of the task. A thread that resumes the task blocks on the same lock. So handlers only
/// record what to report, and the cancelling thread reports it after it has cancelled the tasks.
enum CancellationReports {
  private typealias Reports = [@Sendable () -> Void]

  /// The reports that the calling thread has deferred; nil while it is not cancelling tasks.
  private static let deferred = ThreadLocalWord()

  /// Cancels tasks, and then makes the reports that their cancellation handlers have deferred.
  ///
  /// - Parameter cancel: Cancels tasks on the calling thread. In nested calls, the outermost call
  ///   makes the reports.
  static func deferring(_ cancel: () -> Void) {
    if unsafe deferred.value != nil { return cancel() }
    var reports: Reports = []
    unsafe withUnsafeMutablePointer(to: &reports) { reports in
      unsafe deferred.value = UnsafeMutableRawPointer(reports)
      cancel()
      unsafe deferred.value = nil
    }
    for report in reports { report() }
  }

  /// Makes a report now, or defers it if the calling thread is cancelling tasks.
  static func make(_ report: @escaping @Sendable () -> Void) {
    guard let reports = unsafe deferred.value else { return report() }
    unsafe reports.assumingMemoryBound(to: Reports.self).pointee.append(report)
  }
}
