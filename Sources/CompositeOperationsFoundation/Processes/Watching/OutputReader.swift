internal import CProcesses

/// Reads one of the outputs of a process, and keeps what is to be kept.
final class OutputReader {
  /// So much of the end is kept for errors, in bytes.
  static let evidenceLimit = 4 << 10
  /// So much is read before others have their turn.
  static let patience = 256 << 10
  /// More than that does not lie in a pipe, unless somebody is privileged.
  static let mostInPipe = 1 << 20

  let handsLines: Bool
  /// How many of the last bytes are for the result; nil if the first are.
  private let endLimit: Int?
  private var keeper: OutputKeeper
  private var descriptor: Descriptor?
  private var isWatched = false
  private var hasEnded: Bool

  /// - Parameters:
  ///   - evidence: How many bytes of the end are kept for errors.
  ///   - descriptor: Where to read; nil if the output goes elsewhere.
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

  /// What was kept for the result.
  var kept: ProcessOutput {
    let (bytes, dropped) = endLimit.map(keeper.end) ?? keeper.beginning
    return ProcessOutput(bytes: bytes, droppedByteCount: dropped, isComplete: hasEnded)
  }

  /// What was kept for an error.
  var evidence: [UInt8] { keeper.end(Self.evidenceLimit).bytes }

  /// Takes what is there.
  ///
  /// - Returns: How many bytes are in the buffer; 0 at the end, nil if there is nothing at the moment.
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

  /// Lets what the program writes wait in the pipe.
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
