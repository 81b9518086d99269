/// The behavior of one operation, tick by tick.
struct Timeline: Sendable {
  /// The marks of every tick from 0. A tick has one mark, or several in chronological order.
  private(set) var ticks: [[TimelineMark]]

  init(ticks: [[TimelineMark]]) { self.ticks = ticks }

  /// - Throws: A ``TimelineSyntaxError`` if the text is invalid.
  init(_ text: String) throws {
    ticks = []
    var group: (start: Int, marks: [TimelineMark])?
    for (offset, character) in text.enumerated() {
      func unclear(_ reason: String) -> TimelineSyntaxError {
        TimelineSyntaxError(timeline: text, offset: offset, reason: reason)
      }
      switch (character, TimelineMark(rawValue: character)) {
      case (" ", _): break
      case ("[", _):
        if group != nil { throw unclear("\"[\" inside of \"[ ]\"") }
        group = (offset, [])
      case ("]", _):
        guard let marks = group?.marks else { throw unclear("\"]\" without a \"[\" before it") }
        if marks.isEmpty { throw unclear("a tick needs at least one mark") }
        ticks.append(marks)
        group = nil
      case (_, let mark?):
        if group == nil { ticks.append([mark]) }
        group?.marks.append(mark)
      case (_, nil):
        throw unclear("unexpected \"\(character)\"; expected one of -.r^;x![]")
      }
    }
    if let group {
      throw TimelineSyntaxError(
        timeline: text, offset: group.start, reason: "\"[\" without a \"]\" after it")
    }
  }

  /// The ticks without insignificant ones at the end: trailing absence, and repeated passing of a
  /// run that never ends.
  private var significantTicks: [[TimelineMark]] {
    var ticks = ticks
    while ticks.last == [.absent] { ticks.removeLast() }
    while ticks.last == [.passes], let before = ticks.dropLast().last,
      before == [.passes] || before.last == .asked
    {
      ticks.removeLast()
    }
    return ticks
  }
}

extension Timeline: Equatable {
  static func == (left: Timeline, right: Timeline) -> Bool {
    left.significantTicks == right.significantTicks
  }
}

extension Timeline {
  /// The characters of each tick.
  var columns: [String] {
    ticks.map { marks in
      let characters = String(marks.map(\.rawValue))
      return marks.count == 1 ? characters : "[\(characters)]"
    }
  }
}
