#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension SQLiteRecordDatabase {
  /// Forgets which records were deleted before a moment, so that they take no more room. Who asks for changes since
  /// then is told that those are not known any more, and begins anew.
  ///
  /// - Returns: How many.
  /// - Throws: A ``RecordError`` if the file cannot be written; `CancellationError`.
  @discardableResult
  public func forgetDeletions(before date: Date) async throws -> Int {
    try await write { try $0.forgetDeletions(before: date) }
  }
}
