/// What is expected of a composite, and what it is to be asked: when it is cancelled from outside.
struct TimelinePlan: Sendable {
  let timeline: Timeline
  /// The tick at which somebody cancels it.
  let cancellationTick: Int?

  /// - Throws: A ``TimelineSyntaxError`` if it cannot be read, or no composite could be like that.
  init(_ text: String) throws {
    timeline = try Timeline(text)
    var cancellationTick: Int?
    var hasEnded = false
    for (tick, mark) in timeline.ticks.enumerated().flatMap({ tick, marks in
      marks.map { (tick, $0) }
    }) {
      let reason: String? =
        if hasEnded {
          "A composite ends once, and nothing stands behind its end."
        } else if mark == .absent {
          "A composite begins at tick 0, and goes on until it ends."
        } else if cancellationTick != nil, mark == .asked || mark.isEnd && mark != .cancelled {
          "A composite is cancelled from outside once, and can only end by \"x\" then."
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
        timeline: text, offset: 0, reason: "A composite has one tick at least.")
    }
    self.cancellationTick = cancellationTick
  }
}
