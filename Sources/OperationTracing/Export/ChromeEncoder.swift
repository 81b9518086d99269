internal import CompositeOperations
internal import SystemSupport

/// An encoder for Chrome's Trace Event Format, in its array form.
///
/// The array form allows a missing `]`, so the file of a program that crashed can still be read. A
/// run is a complete event on a thread that represents its lane. Its waits are complete events
/// below it, and its notes are instant events. Times are in microseconds.
struct ChromeEncoder: TraceEncoder {
  private let service: String
  private var hasBegun = false
  /// How many lanes have been named.
  private var laneCount = 0

  /// - Parameter service: The name of the process.
  init(service: String) { self.service = service }

  mutating func block(of steps: [TraceAssembler.Step], now: Duration) -> [UInt8] {
    var block = Block(isFirst: !hasBegun)
    if !hasBegun {
      hasBegun = true
      block.metadata("process_name", of: nil) { $0.member("name", service) }
    }
    for step in steps {
      switch step {
      case .nothing: break
      case .ended(let span):
        nameLanes(of: span, in: &block)
        block.add(span, now: now)
      case .note(let note, let id, _, _): block.add(note, of: id, lane: nil)
      }
    }
    return block.bytes
  }

  mutating func ending() -> [UInt8] { Array((hasBegun ? "\n]\n" : "[]\n").utf8) }

  private mutating func nameLanes(of span: OperationTrace.Span, in block: inout Block) {
    let last = max(span.lane, span.waits.map(\.lane).max() ?? 0)
    while laneCount <= last {
      block.metadata("thread_name", of: laneCount) { $0.member("name", "lane \(laneCount + 1)") }
      block.metadata("thread_sort_index", of: laneCount) { $0.member("sort_index", laneCount + 1) }
      laneCount += 1
    }
  }
}

extension ChromeEncoder {
  /// The events of one block, one per line.
  private struct Block {
    private var json = JSONWriter()
    private var isFirst: Bool

    init(isFirst: Bool) { self.isFirst = isFirst }

    var bytes: [UInt8] { json.bytes }

    /// - Parameter lane: The lane that the metadata describes; nil for the process.
    mutating func metadata(
      _ name: String, of lane: Int?, _ arguments: (inout JSONWriter) -> Void
    ) {
      event("M", name, lane: lane) { json in
        json.name("args")
        json.object(arguments)
      }
    }

    mutating func add(_ span: OperationTrace.Span, now: Duration) {
      let end = span.ended ?? now
      event("X", span.name, category: "run", lane: span.lane) { json in
        json.times(from: span.created, to: end)
        json.name("args")
        json.object { $0.arguments(of: span, now: now) }
      }
      for wait in span.waits {
        event("X", "waits for \(wait.kind)", category: "wait", lane: wait.lane) { json in
          json.times(from: wait.began, to: wait.ended ?? end)
          json.name("args")
          json.object { $0.member("id", span.id.number) }
        }
      }
      for note in span.notes { add(note, of: span.id, lane: span.lane) }
    }

    /// - Parameter lane: The lane to show the note in; nil if its run is no longer known.
    mutating func add(_ note: OperationTrace.Note, of id: OperationID, lane: Int?) {
      event("i", note.text, category: note.level == nil ? "note" : "log", lane: lane) { json in
        json.name("ts")
        json.microseconds(note.time)
        json.member("s", lane == nil ? "p" : "t")
        json.name("args")
        json.object { json in
          json.member("id", id.number)
          if let level = note.level { json.member("level", "\(level)") }
        }
      }
    }

    private mutating func event(
      _ phase: String, _ name: String, category: String? = nil, lane: Int?,
      _ members: (inout JSONWriter) -> Void
    ) {
      // The array spans all blocks, so each block writes its own separators.
      json.raw(isFirst ? "[\n" : ",\n")
      isFirst = false
      json.object { json in
        json.member("ph", phase)
        json.member("name", name)
        if let category { json.member("cat", category) }
        json.member("pid", 1)
        // Thread identifiers start at 1.
        if let lane { json.member("tid", lane + 1) }
        members(&json)
      }
    }
  }
}

extension JSONWriter {
  fileprivate mutating func times(from beginning: Duration, to end: Duration) {
    name("ts")
    microseconds(beginning)
    name("dur")
    microseconds(end - beginning)
  }

  private mutating func member(_ name: String, _ value: OperationAttribute) {
    switch value {
    case .text(let text): member(name, text)
    case .integer(let number): member(name, number)
    case .number(let number):
      self.name(name)
      numberOrText(number)
    case .flag(let flag):
      self.name(name)
      literal("\(flag)")
    case .texts(let texts):
      self.name(name)
      array { json in for text in texts { json.string(text) } }
    }
  }

  fileprivate mutating func arguments(of span: OperationTrace.Span, now: Duration) {
    member("id", span.id.number)
    if let parent = span.parent { member("parent", parent.number) }
    member("attempt", span.attempt)
    member("outcome", span.outcome)
    if let error = span.error { member("error", error) }
    if let reason = span.reason { member("reason", reason) }
    if !span.attributes.isEmpty {
      name("attributes")
      object { json in
        for (name, value) in span.attributes.sortedByName {
          json.member(name, value)
        }
      }
    }
    if span.waits.isEmpty { return }
    name("waits")
    array { json in
      for wait in span.waits {
        json.string(
          "\(((wait.ended ?? span.ended ?? now) - wait.began).readable) for \(wait.kind)")
      }
    }
  }
}
