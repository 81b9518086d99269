import CompositeOperations
import Dispatch
import SystemSupport

/// Reports the output of commands, which it reads from their logs: so the logs are complete
/// whatever reads the output, and a command is never stopped by a slow reader.
final class FlowOutput: Sendable {
  /// The part of a log that is not reported yet.
  private struct Reader {
    let path: String
    var offset: Int
    /// The beginning of a line whose end is not written yet.
    var rest: [UInt8] = []
    /// The lines of the log that are not output.
    var skipped: [Range<Int>] = []
  }

  private struct State {
    var readers: [ExactText: Reader] = [:]
    var isScheduled = false
  }

  private static let interval = DispatchTimeInterval.milliseconds(50)
  /// The bytes that are read at once, which is also the limit of a line: a longer one is reported
  /// in parts.
  private static let blockSize = 64 << 10
  /// The bytes of a unit that are reported before other units have their turn.
  private static let turn = 1 << 20

  private let mode: FlowOutputMode
  private let report: @Sendable (String, [UInt8]) -> Void
  private let state = Lock(State())
  /// Reads and reports, so that the lines of several units do not mix.
  private let queue = DispatchQueue(label: "output")

  /// - Parameter report: Receives the name of a unit and whole lines of its output.
  init(_ mode: FlowOutputMode, report: @escaping @Sendable (String, [UInt8]) -> Void) {
    self.mode = mode
    self.report = report
  }

  /// Begins to report what is appended to the log of a unit, if that has not begun.
  func began(_ unit: String, _ log: FlowLog) {
    if mode == .quiet { return }
    let size = (try? FileStatus(ofFile: log.path))?.size ?? 0
    let isFirst = state.withLock { state in
      if state.readers[ExactText(unit)] != nil { return false }
      state.readers[ExactText(unit)] = Reader(path: log.path, offset: size)
      defer { state.isScheduled = true }
      return !state.isScheduled
    }
    if isFirst, mode == .live { schedule() }
  }

  /// Writes what is not output to the log of a unit.
  ///
  /// - Parameter body: Returns the bytes of the log that it has written.
  func writing(to unit: String, _ body: () throws -> Range<Int>) rethrows -> Range<Int> {
    if mode == .quiet { return try body() }
    return try queue.sync {
      let range = try body()
      state.withLock { $0.readers[ExactText(unit)]?.skipped.append(range) }
      return range
    }
  }

  /// Reports the rest of the output of a unit, before its end is reported.
  func ended(_ unit: String) {
    if mode == .quiet { return }
    queue.sync {
      read(unit, limit: .max)
      if let rest = state.withLock({ $0.readers.removeValue(forKey: ExactText(unit)) })?.rest,
        !rest.isEmpty
      {
        report(unit, rest + [.lineFeed])
      }
    }
  }

  private func schedule() {
    queue.asyncAfter(deadline: .now() + Self.interval) { [self] in
      for unit in state.withLock({ $0.readers.keys.sorted() }) { read(unit.text, limit: Self.turn) }
      let continues = state.withLock { state in
        state.isScheduled = !state.readers.isEmpty
        return state.isScheduled
      }
      if continues { schedule() }
    }
  }

  /// Reports the lines that have been written since the last call. Only the queue calls it.
  private func read(_ unit: String, limit: Int) {
    guard var reader = state.withLock({ $0.readers[ExactText(unit)] }),
      let file = try? FileDescriptor.open(reader.path, .readOnly)
    else { return }
    defer { try? file.close() }
    var block = [UInt8](repeating: 0, count: Self.blockSize)
    // Later output of a background process is not awaited.
    guard let size = try? file.status.size, (try? file.seek(to: reader.offset)) != nil else {
      return
    }
    let end = size - reader.offset > limit ? reader.offset + limit : size
    while reader.offset < end {
      if reader.skipped.first?.lowerBound == reader.offset {
        let skipped = reader.skipped.removeFirst()
        reader.offset = skipped.upperBound
        guard (try? file.seek(to: skipped.upperBound)) != nil else { break }
        if !reader.rest.isEmpty { report(unit, reader.rest + [.lineFeed]) }
        reader.rest = []
        continue
      }
      guard var count = try? file.read(into: &block), count > 0 else { break }
      if let next = reader.skipped.first?.lowerBound, next < reader.offset + count {
        count = next - reader.offset
        try? file.seek(to: next)
      }
      reader.offset += count
      reader.rest += block[..<count]
      let lines: [UInt8]
      if let index = reader.rest.lastIndex(of: .lineFeed) {
        lines = Array(reader.rest[...index])
        reader.rest.removeSubrange(...index)
      } else if reader.rest.count >= Self.blockSize {
        lines = reader.rest + [.lineFeed]
        reader.rest = []
      } else {
        continue
      }
      report(unit, lines)
    }
    state.withLock { $0.readers[ExactText(unit)] = reader }
  }
}
