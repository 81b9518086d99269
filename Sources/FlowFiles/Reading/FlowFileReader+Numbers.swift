internal import SystemSupport

extension FlowFileReader {
  mutating func number(_ field: FlowField, _ range: ClosedRange<Int>) -> Int? {
    number(field.node, range, field.label)
  }

  /// Returns a whole number, as ASCII digits; nil for another text, which is reported.
  mutating func number(_ node: FlowNode, _ range: ClosedRange<Int>, _ label: String) -> Int? {
    guard let text = text(node, label) else { return nil }
    if text.utf8.allSatisfy(\.isDigit), let number = Int(text), range.contains(number) {
      return number
    }
    problems.report(
      node.location,
      "invalid number \(text.quoted) in \(label); "
        + "expected a whole number from \(range.lowerBound) to \(range.upperBound)")
    return nil
  }

  /// Returns a text that is `true` or `false`; nil for another one, which is reported.
  mutating func flag(_ field: FlowField) -> Bool? {
    guard let text = text(field) else { return nil }
    if let flag = Bool(text) { return flag }
    problems.report(
      field.node.location,
      "invalid text \(text.quoted) in \(field.label); expected true or false")
    return nil
  }

  mutating func statuses(_ field: FlowField) -> Set<Int32> {
    let nodes = elements(field)
    if nodes.isEmpty, case .list = field.node.content {
      problems.report(field.node.location, "\(field.label) is empty; expected an exit status")
    }
    return Set(nodes.compactMap { number($0, FlowRanges.status, field.label).map(Int32.init) })
  }

  // MARK: - Durations

  /// Returns a duration; nil for another text, which is reported.
  mutating func duration(_ field: FlowField, allowsZero: Bool) -> Duration? {
    guard let text = text(field) else { return nil }
    switch Self.duration(text) {
    case nil:
      problems.report(
        field.node.location,
        "invalid duration \(text.quoted); expected a number and ms, s, m or h, such as 10m")
    case .zero? where !allowsZero:
      problems.report(field.node.location, "\(field.label) is 0; expected a longer duration")
    case let duration? where duration > .seconds(8_760 * 3_600):
      problems.report(
        field.node.location, "the duration \(text.quoted) is too long; the limit is 8760h")
    case let duration?: return duration
    }
    return nil
  }

  /// Parses a number, with up to 9 decimals, and its unit.
  private static func duration(_ text: String) -> Duration? {
    let units: [(name: String, nanoseconds: Int64)] = [
      ("ms", 1_000_000), ("s", 1_000_000_000), ("m", 60_000_000_000), ("h", 3_600_000_000_000),
    ]
    guard let unit = units.first(where: { text.hasSuffix($0.name) }) else { return nil }
    let number = text.utf8.dropLast(unit.name.utf8.count)
    let parts = number.split(
      separator: UInt8(ascii: "."), maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.allSatisfy({ !$0.isEmpty && $0.allSatisfy(\.isDigit) }), let whole = parts.first,
      parts.count == 1 || parts[1].count <= 9
    else { return nil }
    // A number that overflows is longer than the limit.
    let tooLong = Duration.seconds(Int64.max)
    guard let count = Int64(String(decoding: whole, as: UTF8.self)) else { return tooLong }
    let (nanoseconds, overflows) = count.multipliedReportingOverflow(by: unit.nanoseconds)
    if overflows { return tooLong }
    var fraction: Int64 = 0
    if parts.count == 2 {
      var scale = unit.nanoseconds
      for digit in parts[1] {
        scale /= 10
        fraction += Int64(digit - UInt8(ascii: "0")) * scale
      }
    }
    return .nanoseconds(nanoseconds) + .nanoseconds(fraction)
  }
}
