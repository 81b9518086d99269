/// A database that hints at changes, so that a follower need not ask again and again.
///
/// ```swift
/// import RecordOperations
///
/// let database = SQLiteRecordDatabase("library.sqlite")
/// for await _ in database.hints(in: .default) {
///   print("something has changed")
/// }
/// ```
///
/// A hint says only that something may have changed. What has changed is fetched as always, with
/// ``FetchChanges``.
public protocol ChangeHinting: RecordDatabase {
  /// Returns a stream of hints for one consumer.
  ///
  /// A hint follows each change that is made after the call, by any program. Several changes may
  /// share a hint, and a hint may come without a change. The stream ends when its task is
  /// cancelled.
  func hints(in zone: RecordZone) -> AsyncStream<Void>
}
