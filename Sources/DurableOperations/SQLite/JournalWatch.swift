internal import CompositeOperations
internal import Dispatch
internal import SQLiteSupport

/// Looks for changes that other processes make in a journal, while something waits for them.
// Unchecked because of the connection, which only the serial queue uses.
final class JournalWatch: @unchecked Sendable {
  /// The time between two looks.
  private static let interval = DispatchTimeInterval.milliseconds(25)

  private let queue = DispatchQueue(label: "DurableOperations.watch")
  private let file: JournalFile
  private let configuration: SQLiteConfiguration
  private let isRunning = Lock(false)
  private var connection: SQLiteConnection?
  private var lastVersion: Int64?

  init(of file: JournalFile, _ configuration: SQLiteConfiguration) {
    self.file = file
    self.configuration = configuration
  }

  /// Looks until nothing waits any more. Does nothing if it already looks.
  ///
  /// - Parameters:
  ///   - isNeeded: Whether something waits for changes.
  ///   - isChanged: Whether something has changed that is not in the file.
  ///   - changed: Called after a change.
  func start(
    while isNeeded: @escaping @Sendable () -> Bool,
    isChanged: @escaping @Sendable (SQLiteConnection) -> Bool,
    changed: @escaping @Sendable (SQLiteConnection) -> Void
  ) {
    let isFirst = isRunning.withLock { isRunning in
      defer { isRunning = true }
      return !isRunning
    }
    if isFirst { look(isNeeded, isChanged, changed) }
  }

  private func look(
    _ isNeeded: @escaping @Sendable () -> Bool,
    _ isChanged: @escaping @Sendable (SQLiteConnection) -> Bool,
    _ changed: @escaping @Sendable (SQLiteConnection) -> Void
  ) {
    queue.asyncAfter(deadline: .now() + Self.interval) { [weak self] in
      guard let self else { return }
      guard isNeeded() else {
        isRunning.withLock { $0 = false }
        // Something may have begun to wait before this.
        if isNeeded() { start(while: isNeeded, isChanged: isChanged, changed: changed) }
        return
      }
      // The file may be missing or locked; the next look tries again.
      if let connection = try? opened() {
        let version = try? connection.dataVersion
        if version != lastVersion || isChanged(connection) {
          lastVersion = version
          changed(connection)
        }
      }
      look(isNeeded, isChanged, changed)
    }
  }

  private func opened() throws -> SQLiteConnection {
    if let connection { return connection }
    let connection = try SQLiteConnection.open(file.path, for: .reading, configuration)
    try file.check(connection)
    self.connection = connection
    return connection
  }
}
