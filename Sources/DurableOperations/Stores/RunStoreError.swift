/// The error of a store: its file cannot be used, or a request does not make sense.
public struct RunStoreError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kind of the problem.
  public enum Reason: String, Hashable, Sendable {
    /// The name of a run is empty, too long, or contains a control character.
    case invalidName
    /// The store has no run of that name.
    case noSuchRun
    /// The run has ended, or has not ended, contrary to what the request needs.
    case wrongState
    /// The step is not kept, or does not exist.
    case noSuchStep
    /// The disk of the file has no space left.
    case diskFull
    /// The file could not be read or written.
    case inputOutput
    /// The contents of the file are not those of a database, or contradict each other.
    case damagedFile
    /// The file belongs to another program.
    case foreignFile
    /// A newer version of this package has written the file.
    case newerSchema
    /// The file is on a network file system, where locks do not work reliably.
    case networkFileSystem
    /// The file is on a file system that does not have the locks by which processes see each other.
    case noLocks
    /// The file or its folder is not writable, or does not exist.
    case notAccessible
    /// Another process holds the lock of the file for too long.
    case busy
    /// The server cannot be reached, or has not answered in time.
    case unreachable
    /// The server does not have the schema of the store, or has an unsupported version of it.
    case unsupportedSchema
    /// The address has a scheme of no store, or one that this program was built without.
    case invalidAddress
    /// A value cannot be encoded.
    case notEncodable
    /// A value exceeds the limit of the store.
    case tooLarge
    /// The store was closed, or simulates the end of its process.
    case closed
    /// Another problem, which the description names.
    case other
  }

  /// The kind of the problem.
  public let reason: Reason
  /// The failed request, the reason, and the remedy.
  public let description: String

  package init(_ reason: Reason, _ description: String) {
    self.reason = reason
    self.description = description
  }

  package static func noSuchRun(_ id: RunID) -> RunStoreError {
    RunStoreError(.noSuchRun, "there is no run \(id) in this store")
  }

  /// The error for an address of no store.
  package static func unknownScheme(_ scheme: String) -> RunStoreError {
    RunStoreError(
      .invalidAddress,
      """
      \(scheme)://… is no address of a store; expected the path of an SQLite file, or \
      postgresql://USER@HOST/DATABASE
      """)
  }

  package static func hasEnded(_ run: StoredRun) -> RunStoreError {
    RunStoreError(
      .wrongState, "run \(run.id) has ended (\(run.state.rawValue)), so it receives no events")
  }

  package static func hasNotEnded(_ run: StoredRun) -> RunStoreError {
    RunStoreError(
      .wrongState,
      "run \(run.id) has not ended (\(run.state.rawValue)); cancel it before you forget it")
  }

  package static func hasOpenChild(_ id: RunID, _ child: String) -> RunStoreError {
    RunStoreError(
      .wrongState,
      """
      run \(id) has a child flow that has not ended, \(child); cancel that before you forget this
      """)
  }

  /// Whether the file cannot be used, so that other requests would fail, too.
  var isOfFile: Bool {
    switch reason {
    case .diskFull, .inputOutput, .damagedFile, .foreignFile, .newerSchema, .networkFileSystem,
      .noLocks, .notAccessible, .busy, .unreachable, .unsupportedSchema, .invalidAddress, .closed,
      .other:
      true
    case .invalidName, .noSuchRun, .wrongState, .noSuchStep, .notEncodable, .tooLarge: false
    }
  }

  /// Whether the same request may succeed later without a change of the program.
  package var isTemporary: Bool {
    switch reason {
    case .diskFull, .inputOutput, .busy, .unreachable: true
    case .invalidName, .noSuchRun, .wrongState, .noSuchStep, .damagedFile, .foreignFile,
      .newerSchema, .networkFileSystem, .noLocks, .notAccessible, .unsupportedSchema,
      .invalidAddress, .notEncodable, .tooLarge, .closed, .other:
      false
    }
  }
}
