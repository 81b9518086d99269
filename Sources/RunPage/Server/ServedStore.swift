import CompositeOperations
package import DurableOperations
import SystemSupport

/// The store of a page, whose file another program may remove or replace.
///
/// An open connection would show the contents of the removed file. So ``checked()`` compares the
/// file at the path with the one that was there at first. Another file is not opened: the log of
/// the first one, `-wal`, may still be beside it, and would be written into it.
package final class ServedStore: Sendable {
  /// The file or the address of the store, without a password.
  let place: String
  /// The runs of flow files in the store; nil if it cannot have any.
  let flows: FlowRunReader?
  private let store: RunStore
  /// The path of the SQLite file; nil for a database.
  private let journal: String?
  private let file: FileStatus.Identity?

  package init(_ store: RunStore, at place: String, journal: String?) {
    (self.store, self.place, self.journal) = (store, place, journal)
    flows = journal.map { FlowRunReader(journal: $0) }
    file = journal.flatMap { try? FileStatus(ofFile: $0).identity }
  }

  /// Returns the store, if its file is still at its path.
  ///
  /// - Throws: A ``PageProblem`` if it is not.
  func checked() throws(PageProblem) -> RunStore {
    guard let journal else { return store }
    let found: FileStatus.Identity
    do { found = try FileStatus(ofFile: journal).identity } catch {
      throw PageProblem(
        .unavailable,
        error.isMissing
          ? "the journal \(place) was removed; put it back, or end this page"
          : "the journal \(place) cannot be accessed: \(error)")
    }
    if found == file { return store }
    throw PageProblem(
      .unavailable,
      """
      another file is at \(place); end this page, remove \(place)-wal and \(place)-shm if they \
      belong to the journal that was there, and start the page again
      """)
  }

  /// A text that changes with every change of the store.
  func version() async throws -> String { try await checked().version() }

  /// Why the store cannot be changed; nil if it can.
  func problemOfWriting() async throws -> String? {
    try await store.canWrite() ? nil : "\(place) can be read, but not written"
  }
}
