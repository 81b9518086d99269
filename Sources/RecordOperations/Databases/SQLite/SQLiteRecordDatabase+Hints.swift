internal import SQLiteSupport
internal import SystemSupport

extension SQLiteRecordDatabase: ChangeHinting {
  /// Returns a stream of hints about commits of any connection, in this or another process.
  ///
  /// The stream compares the version of the file every 100 milliseconds, on a connection of its own.
  /// This reads no page of the file.
  public func hints(in zone: RecordZone) -> AsyncStream<Void> {
    let watch = SQLiteWatch(self)
    return AsyncStream {
      while true {
        if await watch.hasChanged() { return () }
        do { try await Task.sleep(for: .milliseconds(100)) } catch { return nil }
      }
    }
  }
}

/// Compares the version of a file with the last one.
private actor SQLiteWatch {
  private let file: SQLiteFile
  private let worker: SQLiteWorker
  private var last: Version?

  /// The version of a file that exists.
  private struct Version: Equatable {
    let identity: FileStatus.Identity
    let number: Int64
  }

  init(_ database: SQLiteRecordDatabase) {
    file = SQLiteFile(database.path)
    worker = database.worker(for: .reading)
  }

  /// Whether the file has changed since the last call. The first call counts as a change, because
  /// the caller may have read the file before.
  func hasChanged() async -> Bool {
    guard let version = await version() else {
      // It is missing, or locked. It may be replaced by another file.
      defer { last = nil }
      return last != nil
    }
    defer { last = version }
    return version != last
  }

  private func version() async -> Version? {
    guard let identity = try? FileStatus(ofFile: file.path).identity else {
      await worker.close()
      return nil
    }
    if let last, last.identity != identity { await worker.close() }
    guard let number = try? await worker.run({ try $0.dataVersion }) else { return nil }
    return Version(identity: identity, number: number)
  }
}
