/// What a program wrote to one of its outputs, as far as it was kept.
public struct ProcessOutput: Sendable, Hashable {
  /// What was kept.
  public let bytes: [UInt8]
  /// How many bytes were beyond the limit of what is kept.
  public let droppedByteCount: Int
  /// Whether the output came to its end.
  ///
  /// It did not where something that the program left behind held it open for longer than
  /// ``ProcessOperation/draining(for:)`` allows.
  public let isComplete: Bool

  init(bytes: [UInt8] = [], droppedByteCount: Int = 0, isComplete: Bool = true) {
    self.bytes = bytes
    self.droppedByteCount = droppedByteCount
    self.isComplete = isComplete
  }

  /// What was kept, with U+FFFD for what is not UTF-8.
  public var text: String { String(decoding: bytes, as: UTF8.self) }

  /// The lines of what was kept, as ``ProcessOperation/onOutputLine(_:)`` would have handed them over, except that
  /// none comes in parts.
  public var lines: [String] {
    var splitter = LineSplitter(limit: .max)
    return splitter.append(bytes) + splitter.finish()
  }
}

extension ProcessOutput: CustomStringConvertible {
  /// How much there is: "2000 bytes and 30 dropped".
  public var description: String {
    var words = bytes.count == 1 ? "1 byte" : "\(bytes.count) bytes"
    if droppedByteCount > 0 { words += " and \(droppedByteCount) dropped" }
    return isComplete ? words : words + ", cut off"
  }
}

extension ProcessOutput {
  /// Where output goes.
  public struct Destination: Sendable {
    enum Kind {
      case kept(first: Int, last: Int)
      case discarded
      case inherited
      case file(String, isAppended: Bool)
    }

    let kind: Kind

    /// Into the result: the first so many bytes. The rest is read, counted and dropped.
    ///
    /// - Precondition: The count is not negative.
    public static func kept(first count: Int) -> Destination {
      precondition(count >= 0, "`count` must not be negative (was \(count))")
      return Destination(kind: .kept(first: count, last: 0))
    }

    /// Into the result: the last so many bytes. What is before them is counted and dropped.
    ///
    /// - Precondition: The count is not negative.
    public static func kept(last count: Int) -> Destination {
      precondition(count >= 0, "`count` must not be negative (was \(count))")
      return Destination(kind: .kept(first: 0, last: count))
    }

    /// Nowhere.
    public static let discarded = Destination(kind: .discarded)

    /// Where the same output of this process goes.
    public static let inherited = Destination(kind: .inherited)

    /// Into a file, which is made, or emptied. A path that does not begin with a slash starts at the folder of
    /// this process. Where several write to it at the same time, as both outputs of a program may, each write goes
    /// behind the others.
    public static func file(_ path: String) -> Destination {
      Destination(kind: .file(path, isAppended: false))
    }

    /// Behind what is in a file, which is made if it is not there.
    public static func appended(to path: String) -> Destination {
      Destination(kind: .file(path, isAppended: true))
    }
  }
}
