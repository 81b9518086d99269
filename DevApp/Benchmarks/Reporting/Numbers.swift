extension Int {
  /// The number with a comma at every third digit: `100,000`.
  var grouped: String {
    let digits = String(magnitude)
    var text = self < 0 ? "-" : ""
    for (index, digit) in digits.enumerated() {
      if index > 0, (digits.count - index).isMultiple(of: 3) { text += "," }
      text.append(digit)
    }
    return text
  }
}

extension Double {
  /// The number with three digits, or with all digits before the point: `1.05`, `24.1`, `1,234`.
  var short: String {
    guard isFinite, magnitude < 1e15 else { return "\(self)" }
    let decimals = magnitude < 9.995 ? 2 : magnitude < 99.95 ? 1 : 0
    if decimals == 0 { return Int(rounded()).grouped }
    let factor = decimals == 1 ? 10.0 : 100.0
    let units = Int((magnitude * factor).rounded())
    var fraction = String(units % Int(factor))
    while fraction.count < decimals { fraction = "0" + fraction }
    return (self < 0 ? "-" : "") + "\(units / Int(factor)).\(fraction)"
  }
}

extension String {
  /// Returns the text with spaces after it, or cut, to a width.
  func padded(to width: Int) -> String {
    count > width
      ? prefix(width - 1) + "…" : self + String(repeating: " ", count: width - count)
  }

  /// Returns the text with spaces before it, to a width.
  func aligned(to width: Int) -> String {
    String(repeating: " ", count: max(0, width - count)) + self
  }
}
