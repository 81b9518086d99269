import CompositeOperations
import DurableOperations
import SystemSupport

/// The store of a page, whose file another program may remove or replace.
///
/// An open connection would show the contents of the removed file. So ``check()`` compares the
/// file at the path with the opened one.
final class ServedStore: Sendable {
  private struct File {
    let identity: FileStatus.Identity
    /// The number of files that were at the path before.
    let number: Int
  }

  /// The file or the address of the store, without a password.
  let place: String
  /// The runs of flow files in the store; nil if it cannot have any.
  let flows: FlowRunReader?
  private let store: RunStore
  /// The path of the SQLite file; nil for a database.
  private let journal: String?
  private let file: Lock<File?>

  init(_ store: RunStore, at place: String, journal: String?) {
    (self.store, self.place, self.journal) = (store, place, journal)
    flows = journal.map { FlowRunReader(journal: $0) }
    let identity = journal.flatMap { try? FileStatus(ofFile: $0).identity }
    file = Lock(identity.map { File(identity: $0, number: 0) })
  }

  /// Returns the store, with the file that is at the path now.
  ///
  /// - Throws: A ``PageProblem`` if there is none.
  func checked() async throws(PageProblem) -> RunStore {
    guard let journal else { return store }
    let identity: FileStatus.Identity
    do { identity = try FileStatus(ofFile: journal).identity } catch {
      let reason = error.isMissing ? "was removed" : "cannot be accessed: \(error)"
      throw PageProblem(
        .unavailable, "the journal \(place) \(reason); the page shows the file that is put there")
    }
    let known = file.withLock(\.self)
    if known?.identity != identity {
      // The next requests open the new file.
      await store.close()
      await flows?.close()
      file.withLock { file in
        // Another request may have noticed the same file.
        if file?.identity != identity {
          file = File(identity: identity, number: (file?.number ?? 0) + 1)
        }
      }
    }
    return store
  }

  /// A text that changes with every change of the store, also if its file is replaced.
  func version() async throws -> String {
    let version = try await checked().version()
    return "\(file.withLock { $0?.number ?? 0 }) \(version)"
  }

  /// Why the store cannot be changed; nil if it can.
  func problemOfWriting() async throws -> String? {
    try await store.canWrite() ? nil : "\(place) can be read, but not written"
  }
}
