/// The part of a program's output that was kept.
public struct ProcessOutput: Sendable, Hashable {
  /// The bytes that were kept.
  public let bytes: [UInt8]
  /// How many bytes exceeded the limit and were dropped.
  public let droppedByteCount: Int
  /// Whether the output was read to its end.
  ///
  /// It is false if other processes that the program started held the output open for longer than
  /// ``ProcessOperation/draining(for:)`` allows, or than 5 seconds in a ``ProcessOutputError``.
  public let isComplete: Bool

  init(bytes: [UInt8] = [], droppedByteCount: Int = 0, isComplete: Bool = true) {
    self.bytes = bytes
    self.droppedByteCount = droppedByteCount
    self.isComplete = isComplete
  }

  /// The kept bytes as text, with U+FFFD for bytes that are not UTF-8.
  public var text: String { String(decoding: bytes, as: UTF8.self) }

  /// The lines of the kept bytes, split as by ``ProcessOperation/onOutputLine(_:)``, except that
  /// long lines are not divided.
  public var lines: [String] {
    var splitter = LineSplitter(limit: .max)
    return splitter.append(bytes) + splitter.finish()
  }
}

extension ProcessOutput: CustomStringConvertible {
  /// The size, such as "2000 bytes and 30 dropped".
  public var description: String {
    var words = bytes.count == 1 ? "1 byte" : "\(bytes.count) bytes"
    if droppedByteCount > 0 { words += " and \(droppedByteCount) dropped" }
    return isComplete ? words : words + ", cut off"
  }
}

extension ProcessOutput {
  /// A destination of output.
  public struct Destination: Sendable {
    enum Kind {
      case whole(limit: Int)
      case kept(first: Int, last: Int)
      case discarded
      case inherited
      case file(String, isAppended: Bool)
      case pipe(PipeEnd)
    }

    let kind: Kind

    /// Keeps all bytes in the result, or fails. By default, this is the destination of both
    /// outputs, with a limit of 16 MiB.
    ///
    /// If the program writes more bytes, it is ended as after a cancellation, and the run fails
    /// with a ``ProcessOutputError``, which has the bytes up to the limit.
    ///
    /// - Parameter limit: The maximum number of bytes.
    /// - Precondition: `limit` is not negative.
    public static func whole(limit: Int) -> Destination {
      precondition(limit >= 0, "`limit` must not be negative (was \(limit))")
      return Destination(kind: .whole(limit: limit))
    }

    /// Keeps the first bytes in the result. The rest is read, counted and dropped.
    ///
    /// - Parameter count: The maximum number of bytes to keep.
    /// - Precondition: `count` is not negative.
    public static func kept(first count: Int) -> Destination {
      precondition(count >= 0, "`count` must not be negative (was \(count))")
      return Destination(kind: .kept(first: count, last: 0))
    }

    /// Keeps the last bytes in the result. Earlier bytes are counted and dropped.
    ///
    /// - Parameter count: The maximum number of bytes to keep.
    /// - Precondition: `count` is not negative.
    public static func kept(last count: Int) -> Destination {
      precondition(count >= 0, "`count` must not be negative (was \(count))")
      return Destination(kind: .kept(first: 0, last: count))
    }

    /// Discards the output.
    public static let discarded = Destination(kind: .discarded)

    /// Sends the output to the corresponding output of this process.
    public static let inherited = Destination(kind: .inherited)

    /// Writes the output to a file, which is created, or truncated if it exists.
    ///
    /// If the file has several writers at the same time, such as both outputs of a program, each
    /// write is appended.
    ///
    /// - Parameter path: The path of the file. A relative path starts at the working folder of this
    ///   process.
    public static func file(_ path: String) -> Destination {
      Destination(kind: .file(path, isAppended: false))
    }

    /// Appends the output to a file, which is created if it does not exist.
    ///
    /// - Parameter path: The path of the file. A relative path starts at the working folder of this
    ///   process.
    public static func appended(to path: String) -> Destination {
      Destination(kind: .file(path, isAppended: true))
    }
  }
}
