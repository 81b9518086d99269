/// The expected timeline of a composite, and when to cancel it from outside.
struct TimelinePlan: Sendable {
  let timeline: Timeline
  /// The tick at which the test cancels the composite.
  let cancellationTick: Int?

  /// - Throws: A ``TimelineSyntaxError`` if the text is invalid, or impossible for a composite.
  init(_ text: String) throws {
    timeline = try Timeline(text)
    var cancellationTick: Int?
    var hasEnded = false
    for (tick, mark) in timeline.ticks.enumerated().flatMap({ tick, marks in
      marks.map { (tick, $0) }
    }) {
      let reason: String? =
        if hasEnded {
          "nothing may follow the end of the composite"
        } else if mark == .absent {
          "a composite runs from tick 0 to its end, without \".\""
        } else if cancellationTick != nil, mark == .asked || mark.isEnd && mark != .cancelled {
          "a cancelled composite can only end by \"x\", and cannot be cancelled again"
        } else {
          nil
        }
      if let reason {
        let offset = timeline.columns[..<tick].joined().count
        throw TimelineSyntaxError(
          timeline: timeline.columns.joined(), offset: offset, reason: reason)
      }
      if mark == .asked || mark == .cancelled { cancellationTick = cancellationTick ?? tick }
      hasEnded = mark.isEnd
    }
    if timeline.ticks.isEmpty {
      throw TimelineSyntaxError(
        timeline: text, offset: 0, reason: "a composite needs at least one tick")
    }
    self.cancellationTick = cancellationTick
  }
}
