internal import CompositeOperations

extension RecordDatabase {
  /// Returns a stream of account statuses for a single consumer: first the current status, then
  /// each status that differs from the previous one.
  ///
  /// ```swift
  /// import RecordOperations
  ///
  /// let database = SQLiteRecordDatabase("library.sqlite")
  /// for await status in database.accountStatuses() where status == .noAccount {
  ///   print("sign in to share your library")
  /// }
  /// ```
  ///
  /// A failed request counts as ``AccountStatus/couldNotDetermine``. The stream ends when the task
  /// that iterates over it is cancelled.
  ///
  /// - Parameter interval: The time between two requests.
  public func accountStatuses(checkingEvery interval: Duration = .seconds(60))
    -> AsyncStream<AccountStatus>
  {
    let last = Lock<AccountStatus?>(nil)
    return AsyncStream {
      while !Task.isCancelled {
        let isFirst = last.withLock { $0 == nil }
        if !isFirst { do { try await Task.sleep(for: interval) } catch { return nil } }
        let status: AccountStatus
        do { status = try await self.accountStatus() } catch {
          if Task.isCancelled { return nil }
          status = .couldNotDetermine
        }
        let isNew = last.withLock { last in
          defer { last = status }
          return last != status
        }
        if isNew { return status }
      }
      return nil
    }
  }
}
