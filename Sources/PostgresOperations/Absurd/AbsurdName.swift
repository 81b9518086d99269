internal import DurableOperations
internal import SystemSupport

/// The names of events and checkpoints of a run.
///
/// Events are named in their queue, so their names begin with the name of their run. Names of users
/// are escaped, so that they contain neither slashes nor at signs.
enum AbsurdName {
  /// The beginning of the names of all events of a run.
  static func prefix(of run: RunID) -> String { JournalKey.escaped(run.text) + "/" }

  /// The event that a run waits for: one that is sent to it, or the end of a child.
  static func event(_ event: String, of run: RunID) -> String {
    if let child = ChildEvent.child(of: event) { return end(of: child) }
    return prefix(of: run) + shortened(JournalKey.escaped(event))
  }

  /// The event of the end of a run.
  static func end(of run: RunID) -> String { prefix(of: run) + "@end" }

  /// The event that resumes a stuck run. The name is used once, because the first event of a name
  /// counts.
  static func retry(of run: RunID, _ token: String) -> String {
    prefix(of: run) + "@retry/" + token
  }

  /// The checkpoint of a finished step. Its digits are padded, so that the texts have the order of
  /// the steps.
  static func checkpoint(of position: Int) -> String {
    let digits = String(position)
    return String(repeating: "0", count: max(0, 10 - digits.count)) + digits
  }

  /// The checkpoint of a key of a step.
  static func checkpoint(of position: Int, key: String) -> String {
    checkpoint(of: position) + "/" + shortened(key)
  }

  /// The most bytes of a part of a name. An index of PostgreSQL takes 2,704 for all of it.
  private static let mostBytes = 1_000

  /// The text, or the beginning of a long one with a hash.
  static func shortened(_ text: String) -> String { text.shortened(toBytes: mostBytes) }

  /// The position and the key of a checkpoint; nil if it is none of a step.
  static func step(of checkpoint: String) -> (position: Int, key: String)? {
    let parts = checkpoint.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard let position = Int(parts[0]) else { return nil }
    return (position, parts.count > 1 ? String(parts[1]) : "")
  }

  /// The checkpoint of why a run is stuck or was cancelled.
  static let reason = "$reason"

  /// The checkpoint of the number of claims before the last retry.
  static let retried = "$retried"

  /// The checkpoint in which the engine keeps the payload of an event that ended a wait.
  static let wait = "$wait"

  /// The name by which the sender of an event knows it; nil for none.
  static func awaitedEvent(_ event: String?) -> String? {
    guard let event, let slash = event.firstIndex(of: "/") else { return event }
    let name = event[event.index(after: slash)...]
    if name == "@end" {
      return ChildEvent.name(of: RunID(unescaped(event[..<slash])))
    }
    return unescaped(name)
  }

  /// The text without the percent escapes of ``JournalKey``.
  private static func unescaped(_ text: Substring) -> String {
    if !text.utf8.contains(UInt8(ascii: "%")) { return String(text) }
    var bytes: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%"),
        let code = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
      {
        bytes.append(code)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
