#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension SQLiteRecordDatabase {
  /// Deletes the change entries of records that were deleted before a date, to free their space.
  ///
  /// A change token from before the last of these deletions then expires: ``changes(since:in:)``
  /// throws ``RecordError/Reason/tokenExpired`` for it, and the caller has to fetch everything
  /// again.
  ///
  /// - Returns: The number of entries that were deleted.
  /// - Throws: A ``RecordError`` if the file cannot be written, or if this task is in a transaction
  ///   of it; `CancellationError`.
  @discardableResult
  public func forgetDeletions(before date: Date) async throws -> Int {
    try await write { try $0.forgetDeletions(before: date) }
  }
}
