import Foundation

/// The events of a trace in Chrome's format, decoded by code that is independent of the encoder.
struct ChromeEvents {
  struct Event: Decodable {
    struct Arguments: Decodable {
      var id: UInt64?
      var parent: UInt64?
      var attempt: Int?
      var outcome: String?
      var error: String?
      var reason: String?
      var waits: [String]?
      var level: String?
      var name: String?
      var attributes: [String: Value]?
    }

    /// A value of any type as text.
    struct Value: Decodable, ExpressibleByStringLiteral, Equatable {
      let text: String

      init(stringLiteral value: String) { text = value }

      init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if let text = try? value.decode(String.self) {
          self.text = text
        } else if let flag = try? value.decode(Bool.self) {
          text = "\(flag)"
        } else if let number = try? value.decode(Int.self) {
          text = "\(number)"
        } else if let number = try? value.decode(Double.self) {
          text = "\(number)"
        } else {
          text = try value.decode([String].self).joined(separator: ", ")
        }
      }
    }

    let ph: String
    let name: String
    var cat: String?
    let pid: Int
    var tid: Int?
    var ts: Double?
    var dur: Double?
    var s: String?
    let args: Arguments
  }

  private struct Whole: Decodable {
    let displayTimeUnit: String
    let traceEvents: [Event]
  }

  let events: [Event]

  /// - Parameter text: An array of events, or an object that contains one.
  init(_ text: some StringProtocol) throws {
    let data = Data(text.utf8)
    if text.hasPrefix("[") {
      events = try JSONDecoder().decode([Event].self, from: data)
    } else {
      let whole = try JSONDecoder().decode(Whole.self, from: data)
      guard whole.displayTimeUnit == "ns" else { throw TestError(whole.displayTimeUnit) }
      events = whole.traceEvents
    }
  }

  var runs: [Event] { events.filter { $0.ph == "X" && $0.cat == "run" } }
  var waits: [Event] { events.filter { $0.ph == "X" && $0.cat == "wait" } }
  var instants: [Event] { events.filter { $0.ph == "i" } }

  /// The slices of one thread that overlap without being nested.
  var crossings: [String] {
    var crossings: [String] = []
    for slices in Dictionary(grouping: runs + waits, by: \.tid).values {
      var open: [(end: Int, name: String)] = []
      for (start, end, name) in slices.map(\.span).sorted(by: { ($0.0, -$0.1) < ($1.0, -$1.1) }) {
        while let last = open.last, last.end <= start { open.removeLast() }
        if let last = open.last, end > last.end { crossings.append("\(name) and \(last.name)") }
        open.append((end, name))
      }
    }
    return crossings
  }
}

extension ChromeEvents.Event {
  /// The start and the end in whole nanoseconds, and the name.
  fileprivate var span: (Int, Int, String) {
    let start = Int(((ts ?? 0) * 1_000).rounded())
    return (start, start + Int(((dur ?? 0) * 1_000).rounded()), name)
  }
}
