extension Duration {
  /// Three significant digits and a unit: `812 ns`, `12.4 µs`, `3.21 ms`, `1.24 s`, `2 min 5 s`.
  package var readable: String {
    let time = inNanoseconds
    if time < 0 { return "-" + Duration.nanoseconds(time == .min ? .max : -time).readable }
    for (unit, size) in [("ns", 1), ("µs", 1_000), ("ms", 1_000_000)] as [(String, Int64)] {
      if let text = Self.threeFigures(of: time, in: size) { return text + " " + unit }
    }
    let second: Int64 = 1_000_000_000
    if time < 60 * second, let text = Self.threeFigures(of: time, in: second) { return text + " s" }
    let seconds = time / second
    return seconds < 3600
      ? "\(seconds / 60) min \(seconds % 60) s" : "\(seconds / 3600) h \(seconds / 60 % 60) min"
  }

  /// The duration for people: `812 ms`, `1.24 s`, `3 min 12 s`. Less than a millisecond is `0 ms`.
  package var readableTime: String {
    let milliseconds = components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000
    if milliseconds < 1_000 { return "\(milliseconds) ms" }
    let seconds = milliseconds / 1_000
    if seconds < 60 {
      let hundredths = milliseconds % 1_000 / 10
      if hundredths == 0 { return "\(seconds) s" }
      return "\(seconds).\(hundredths < 10 ? "0" : "")\(hundredths) s"
    }
    func parts(_ major: Int64, _ majorUnit: String, _ minor: Int64, _ minorUnit: String) -> String {
      minor == 0 ? "\(major) \(majorUnit)" : "\(major) \(majorUnit) \(minor) \(minorUnit)"
    }
    return seconds < 3_600
      ? parts(seconds / 60, "min", seconds % 60, "s")
      : parts(seconds / 3_600, "h", seconds / 60 % 60, "min")
  }

  /// Returns a time in a unit, with three significant digits; nil if it is 1,000 units or more.
  private static func threeFigures(of time: Int64, in size: Int64) -> String? {
    guard time < 1_000 * size else { return nil }
    let whole = time / size
    let places = size == 1 || whole >= 100 ? 0 : whole >= 10 ? 1 : 2
    guard places > 0 else { return "\(whole)" }
    let scale: Int64 = places == 1 ? 10 : 100
    let part = time % size * scale / size
    return "\(whole)." + (places == 2 && part < 10 ? "0" : "") + "\(part)"
  }
}
