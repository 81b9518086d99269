internal import CProcesses

/// Reads one of the outputs of a process, and keeps a part of it.
final class OutputReader {
  /// How many of the last bytes are kept for errors.
  static let evidenceLimit = 4 << 10
  /// How many bytes are read at a time, before other processes have their turn.
  static let patience = 256 << 10
  /// The maximum number of bytes in a pipe, unless a process is privileged.
  static let mostInPipe = 1 << 20

  let handsLines: Bool
  /// How many of the last bytes the result has; nil if it has the first ones.
  private let endLimit: Int?
  private var keeper: OutputKeeper
  private var descriptor: Descriptor?
  private var isWatched = false
  private var hasEnded: Bool

  /// - Parameters:
  ///   - evidence: How many of the last bytes are kept for errors.
  ///   - descriptor: The pipe to read; nil if the output goes elsewhere.
  init(_ choice: OutputChoice, evidence: Int, from descriptor: consuming Descriptor?) {
    hasEnded = descriptor == nil
    self.descriptor = descriptor
    handsLines = choice.handler != nil
    if case .kept(let first, let last) = choice.destination.kind {
      endLimit = first == 0 ? last : nil
      keeper = OutputKeeper(first: first, last: max(last, evidence))
    } else {
      endLimit = nil
      keeper = OutputKeeper(first: 0, last: 0)
    }
  }
  var isOpen: Bool { descriptor != nil }

  /// The output for the result.
  var kept: ProcessOutput {
    let (bytes, dropped) = endLimit.map(keeper.end) ?? keeper.beginning
    return ProcessOutput(bytes: bytes, droppedByteCount: dropped, isComplete: hasEnded)
  }

  /// The output for an error.
  var evidence: [UInt8] { keeper.end(Self.evidenceLimit).bytes }

  /// Reads the available bytes.
  ///
  /// - Returns: The number of bytes in the buffer; 0 at the end, nil if none are available now.
  func read(into buffer: inout [UInt8]) -> Int? {
    let count = descriptor?.read(into: &buffer)
    if let count, count > 0 { keeper.append(buffer[..<count]) }
    if count == 0 { hasEnded = true }
    return count
  }

  func watch(on watch: Int32, as token: UInt64) {
    guard let number = descriptor?.number, !isWatched else { return }
    isWatched = process_watch_add(watch, number, process_interest_readable, token) == 0
  }

  /// Stops reading. The output of the program then waits in the pipe.
  func pause(on watch: Int32) {
    guard let number = descriptor?.number, isWatched else { return }
    process_watch_remove(watch, number, process_interest_readable)
    isWatched = false
  }

  func close(on watch: Int32) {
    pause(on: watch)
    descriptor = nil
  }
}
