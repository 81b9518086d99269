public import CompositeOperations

/// An error of a step that was read from a journal and cannot be restored as itself, because it is
/// not `Codable`, or because this program does not have its type.
public struct JournaledError: Error, Codable, Hashable, Sendable, CustomStringConvertible {
  /// The name of the error's type.
  public let type: String
  public let description: String

  /// Creates an error.
  public init(type: String, description: String) {
    self.type = type
    self.description = description
  }
}

/// The error of a step whose result type is neither `Codable` nor `Void`. Its body has not begun.
public struct StepNotCodableError: Error, Codable, Hashable, Sendable, CustomStringConvertible {
  public let run: RunID
  public let step: Int
  /// The name of the operation.
  public let name: String
  /// The name of the result type.
  public let type: String

  public var description: String {
    let advice =
      type.hasPrefix("(")
      ? "name the children with `.journaled(as:)` and map the tuple to a Codable type"
      : "declare it Codable, or map the result to a Codable type"
    return "run \(run), step \(step), \(name): result type \(type) is not Codable; \(advice)"
  }
}

/// The error of a step, or of a keyed value, that is larger than the limit of the store.
public struct StepTooLargeError: Error, Codable, Hashable, Sendable, CustomStringConvertible {
  public let run: RunID
  public let step: Int
  /// The name of the operation.
  public let name: String
  /// The number of bytes of the encoded value.
  public let size: Int
  /// The maximum number of bytes.
  public let limit: Int

  public var description: String {
    """
    run \(run), step \(step), \(name): result of \(sizes.size) exceeds the limit of \
    \(sizes.limit); store it in a file or a database and return its name, or raise \
    `valueLimit` of the store and retry the run
    """
  }
}

/// The error of a write by a process that no longer runs the run. Another process has taken it
/// over, and nothing was written.
public struct RunTakenError: Error, Hashable, Sendable, CustomStringConvertible {
  public let run: RunID
  /// The fence of the process that was refused.
  public let fence: Int

  package init(run: RunID, fence: Int) {
    self.run = run
    self.fence = fence
  }

  public var description: String {
    """
    run \(run) was taken over by another process, or retried, after claim \(fence); this process \
    writes nothing more for it
    """
  }
}

/// The error of a start under a name that another flow, or the same flow with another state, has.
public struct RunExistsError: Error, Hashable, Sendable, CustomStringConvertible {
  public let run: RunID
  /// The name of the flow that has the name.
  public let flow: String
  /// Whether it is the same flow, with another initial state.
  public let isSameFlow: Bool

  package init(run: RunID, flow: String, isSameFlow: Bool) {
    self.run = run
    self.flow = flow
    self.isSameFlow = isSameFlow
  }

  public var description: String {
    let problem =
      isSameFlow
      ? "a run of \(flow) with another initial state has this name"
      : "a run of the flow \(flow) has this name"
    return "run \(run): \(problem); use another name, or forget that run when it has ended"
  }
}

/// The error of a run that cannot continue until the program is fixed. Nothing of it is lost.
public struct RunStuckError: Error, Hashable, Sendable, CustomStringConvertible {
  public let run: RunID
  /// Why it cannot continue.
  public let reason: String

  package init(run: RunID, reason: String) {
    self.run = run
    self.reason = reason
  }

  public var description: String {
    "run \(run) is stuck: \(reason); fix the program, then retry the run"
  }
}

/// The error of an operation whose key is empty, or is used twice in one attempt.
public struct JournalKeyError: Error, Codable, Hashable, Sendable, CustomStringConvertible {
  public let run: RunID
  public let step: Int
  /// The key with those around it; empty for an empty key.
  public let key: String

  public var description: String {
    let problem = key.isEmpty ? "a key is empty" : "the key '\(key)' is used twice in one attempt"
    return """
      run \(run), step \(step): \(problem); give each operation that stores its result a key of its \
      own, with `.journaled(as:)`, and each sleep and each child flow a name
      """
  }
}

/// The end of a run that was cancelled in its store.
public struct RunCancelledError: Error, Hashable, Sendable, CustomStringConvertible {
  public let run: RunID
  /// The reason, if one was given.
  public let reason: String?

  package init(run: RunID, reason: String?) {
    self.run = run
    self.reason = reason
  }

  public var description: String {
    "run \(run) was cancelled" + (reason.map { " because \($0)" } ?? "")
  }
}

extension RunCancelledError: CancellationRepresenting {
  public var representsCancellation: Bool { true }
}

/// The error of a store: its file cannot be used, or a request does not make sense.
public struct RunStoreError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kind of the problem.
  public enum Reason: String, Hashable, Sendable {
    /// The name of a run is empty, too long, or contains a control character.
    case invalidName
    case noSuchRun
    /// The run has ended, or has not ended, contrary to what the request needs.
    case wrongState
    /// The step is not kept, or does not exist.
    case noSuchStep
    case diskFull
    /// The file could not be read or written.
    case inputOutput
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
    case other
  }

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

extension StepTooLargeError {
  private var sizes: (size: String, limit: String) {
    let readable = (size.readableBytes, limit.readableBytes)
    return readable.0 == readable.1 ? ("\(size) bytes", "\(limit) bytes") : readable
  }
}

extension Int {
  /// A number of bytes, in the largest unit with a value of at least 1.
  fileprivate var readableBytes: String {
    for (unit, size) in [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)] where self >= size {
      let tenths = (self * 10 + size / 2) / size
      return tenths % 10 == 0 ? "\(tenths / 10) \(unit)" : "\(tenths / 10).\(tenths % 10) \(unit)"
    }
    return "\(self) bytes"
  }
}
