import SQLiteSupport
import SystemSupport

extension FlowState {
  /// How often the log and the state are looked at.
  private static let interval = Duration.milliseconds(200)

  /// Passes on the log of a step, of a child such as `step[value]`, or of a command of `on` such as `on failure`, as it
  /// grows, until the step or the run has ended.
  ///
  /// While the flow runs, it is the log of that run, also if the step has not begun yet. Otherwise it is
  /// the one that ``log(of:inRun:)`` returns.
  ///
  /// - Parameters:
  ///   - name: The name of the step or the child, or of the command of `on`.
  ///   - runName: The name of the run; nil for any one.
  ///   - body: Receives the bytes in order, each once.
  /// - Throws: A ``FlowFileError`` if there is no such step; an error if there is no log; the error of the
  ///   body; `CancellationError`.
  public func followLog(
    of name: String, inRun runName: String? = nil, _ body: ([UInt8]) throws -> Void
  ) async throws {
    try checkLog(of: name)
    try checkLock()
    var log: (run: Int, file: FileDescriptor)?
    defer { try? log?.file.close() }
    while true {
      // In this order, so that the last output is read after the end that is seen.
      let isBeginning = FileLock.isHeld(folder.beginningLock)
      let runs = try await runs(named: runName).filter(folder.isRunning)
      let progress = try await reading { [run = log?.run] journal in
        let runs = runs.filter { run == nil || run == $0 }
        // The end of the run is stored before these commands, which run as long as it has its lock.
        if FlowOccasion(unit: name) != nil { return runs.max().map { (run: $0, hasEnded: false) } }
        return try await journal?.progress(of: name, in: runs)
      }
      let isOver = progress == nil && (log != nil || !isBeginning)
      if log == nil, let progress {
        let path = folder.path(ofLog: name, inRun: progress.run)
        log = (try? FileDescriptor.open(path, .readOnly)).map { (progress.run, $0) }
      }
      if let log {
        var block = [UInt8](repeating: 0, count: 1 << 16)
        while case let count = try log.file.read(into: &block), count > 0 {
          try body(Array(block[..<count]))
        }
        if isOver || progress?.hasEnded == true { return }
      } else if isOver || progress?.hasEnded == true {
        return try body(try await self.log(of: name, inRun: runName))
      }
      try await Task.sleep(for: Self.interval)
    }
  }
}

extension FlowState {
  /// - Throws: A failure if the lock cannot be read, which would count as held.
  fileprivate func checkLock() throws(FlowFailure) {
    do throws(SystemError) {
      try FileDescriptor.open(folder.beginningLock, .readOnly).close()
    } catch {
      if error.isMissing { return }
      throw FlowFailure.other(
        "\(folder.beginningLock.onOneLine) cannot be read, so it is unknown whether the flow runs: \(error); "
          + "without --follow, the log is printed as it is")
    }
  }
}

extension FlowJournal {
  /// Returns which of some runs was begun or continued last, and whether a step or a child has ended in
  /// it; nil if all of them have ended.
  fileprivate func progress(
    of unit: String, in runs: [Int]
  ) async throws -> (run: Int, hasEnded: Bool)? {
    try await worker.run { [flow] connection in
      try connection.fetchOne(
        """
        SELECT number, EXISTS (SELECT 1 FROM flow_step
          WHERE flow = ?1 AND run = number AND step = ?2 AND state IS NOT NULL)
        FROM flow_run WHERE flow = ?1 AND state IS NULL AND process IS NOT NULL
          AND number IN (SELECT value FROM json_each(?3))
        -- Another run may not include the step.
        ORDER BY EXISTS (SELECT 1 FROM flow_step WHERE flow = ?1 AND run = number AND step = ?2) DESC,
          updated DESC LIMIT 1
        """, [.text(flow), .text(unit), .text(Self.json(Set(runs)))]
      ) { (Int($0.integer(at: 0)), $0.integer(at: 1) != 0) }
    }
  }
}
