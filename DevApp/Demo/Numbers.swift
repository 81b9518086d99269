extension Int {
  /// The number with its digits in groups of three: `1,234,567`.
  var grouped: String {
    let digits = Array(String(magnitude))
    let groups = stride(from: digits.count, to: 0, by: -3).reversed().map { end in
      String(digits[Swift.max(0, end - 3)..<end])
    }
    return (self < 0 ? "-" : "") + groups.joined(separator: ",")
  }

  /// Returns the number with a noun: `1 file`, `2,000 files`.
  func counted(_ noun: String) -> String { "\(grouped) \(noun)\(self == 1 ? "" : "s")" }

  /// The number as an amount of bytes, in powers of 1,000: `1.2 MB`.
  var asBytes: String {
    let units = ["B", "kB", "MB", "GB", "TB", "PB", "EB"]
    var amount = Double(self)
    var unit = 0
    while amount >= 999.5, unit < units.count - 1 {
      amount /= 1_000
      unit += 1
    }
    if unit == 0 { return "\(self) B" }
    let tenths = Int((amount * 10).rounded())
    return amount < 99.95
      ? "\(tenths / 10).\(tenths % 10) \(units[unit])" : "\(Int(amount.rounded())) \(units[unit])"
  }
}
