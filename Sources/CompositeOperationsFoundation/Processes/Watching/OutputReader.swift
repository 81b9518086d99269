internal import CProcesses
internal import SystemSupport

/// Reads one of the outputs of a process, and keeps a part of it.
final class OutputReader {
  /// How many of the last bytes are kept for errors.
  static let errorTailLimit = 4 << 10
  /// The maximum number of bytes that are read before other processes are handled.
  static let bytesPerTurn = 256 << 10
  /// The maximum number of bytes in a pipe, unless a process is privileged.
  static let pipeCapacity = 1 << 20

  /// Whether a closure receives the output while it arrives.
  let isHandled: Bool
  /// How many of the last bytes the result has; nil if it has the first ones.
  private let tailLimit: Int?
  /// The limit that the output must not exceed; nil if a part of it may be dropped.
  private let wholeLimit: Int?
  private var outputBuffer: OutputBuffer
  private var owned: OwnedFileDescriptor?
  private var isWatched = false
  private var hasEnded: Bool

  /// - Parameters:
  ///   - errorTail: How many of the last bytes are kept for errors.
  ///   - descriptor: The pipe to read; nil if the output goes elsewhere.
  init(
    _ configuration: OutputConfiguration, errorTail: Int,
    from descriptor: consuming OwnedFileDescriptor?
  ) {
    hasEnded = descriptor == nil
    owned = descriptor
    isHandled = configuration.handler != nil
    switch configuration.destination.kind {
    case .whole(let limit):
      (tailLimit, wholeLimit) = (nil, limit)
      outputBuffer = OutputBuffer(first: limit, last: errorTail)
    case .kept(let first, let last):
      (tailLimit, wholeLimit) = (first == 0 ? last : nil, nil)
      outputBuffer = OutputBuffer(first: first, last: max(last, errorTail))
    case .discarded, .inherited, .file, .pipe:
      (tailLimit, wholeLimit) = (nil, nil)
      outputBuffer = OutputBuffer(first: 0, last: 0)
    }
  }

  /// The limit that the output has exceeded; nil if it has exceeded none.
  var exceededLimit: Int? { wholeLimit.flatMap { outputBuffer.count > $0 ? $0 : nil } }

  var isOpen: Bool { owned != nil }

  /// Whether the output waits in the pipe until the run has taken earlier output.
  var isPaused: Bool { owned != nil && !isWatched }

  /// The output for the result.
  var kept: ProcessOutput {
    let (bytes, dropped) = tailLimit.map(outputBuffer.tail) ?? outputBuffer.head
    return ProcessOutput(bytes: bytes, droppedByteCount: dropped, isComplete: hasEnded)
  }

  /// The output for an error.
  var errorTail: [UInt8] { outputBuffer.tail(Self.errorTailLimit).bytes }

  /// Reads the available bytes.
  ///
  /// - Returns: The number of bytes in the buffer; 0 at the end, nil if none are available now.
  func read(into buffer: inout [UInt8]) -> Int? {
    guard let descriptor = owned?.descriptor else { return nil }
    let count: Int?
    // An output that cannot be read has ended.
    do { count = try descriptor.readAvailable(into: &buffer) } catch { count = 0 }
    if let count, count > 0 { outputBuffer.append(buffer[..<count]) }
    if count == 0 { hasEnded = true }
    return count
  }

  func watch(on watch: Int32, as token: UInt64) {
    guard let number = owned?.descriptor.rawValue, !isWatched else { return }
    isWatched = process_watch_add(watch, number, process_interest_readable, token) == 0
  }

  /// Stops reading. The output of the program then waits in the pipe.
  func pause(on watch: Int32) {
    guard let number = owned?.descriptor.rawValue, isWatched else { return }
    process_watch_remove(watch, number, process_interest_readable)
    isWatched = false
  }

  func close(on watch: Int32) {
    pause(on: watch)
    owned = nil
  }
}

/// The first and the last bytes of a program's output.
struct OutputBuffer {
  private let firstLimit: Int
  private let lastLimit: Int
  private var first: [UInt8] = []
  private var last: [UInt8] = []
  private(set) var count = 0

  /// - Parameters:
  ///   - firstLimit: How many of the first bytes are kept at most.
  ///   - lastLimit: How many of the last bytes are kept at most.
  init(first firstLimit: Int, last lastLimit: Int) {
    self.firstLimit = firstLimit
    self.lastLimit = lastLimit
  }

  mutating func append(_ bytes: ArraySlice<UInt8>) {
    count += bytes.count
    if first.count < firstLimit { first += bytes.prefix(firstLimit - first.count) }
    if lastLimit == 0 { return }
    last += bytes.suffix(lastLimit)
    // Not every time, so that each byte is moved at most once.
    if last.count - lastLimit >= lastLimit { last.removeFirst(last.count - lastLimit) }
  }

  /// The first bytes, and how many bytes followed them.
  var head: (bytes: [UInt8], droppedByteCount: Int) { (first, count - first.count) }

  /// The last bytes, limited to a number and to the bytes that are kept, and how many bytes
  /// preceded them.
  func tail(_ limit: Int) -> (bytes: [UInt8], droppedByteCount: Int) {
    let bytes = Array(last.suffix(min(limit, lastLimit)))
    return (bytes, count - bytes.count)
  }
}
