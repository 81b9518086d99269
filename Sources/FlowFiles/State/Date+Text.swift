import Foundation

extension Date {
  package init(milliseconds: Int64) {
    self.init(timeIntervalSince1970: Double(milliseconds) / 1_000)
  }

  /// The date in the time zone of the user, to the minute: `2026-11-30 14:28`.
  package var minute: String {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = .current
    let parts = calendar.dateComponents([.year, .month, .day, .hour, .minute], from: self)
    func digits(_ number: Int?) -> String {
      let text = "\(number ?? 0)"
      return text.count < 2 ? "0" + text : text
    }
    return "\(parts.year ?? 0)-\(digits(parts.month))-\(digits(parts.day)) "
      + "\(digits(parts.hour)):\(digits(parts.minute))"
  }

  /// The date in the time zone of the user, to the second: `2026-11-30 14:28:59`.
  package var second: String {
    let seconds = Int(timeIntervalSince1970.rounded(.down)) % 60
    return minute + (seconds < 10 ? ":0" : ":") + "\(seconds)"
  }

  /// The date in UTC with milliseconds, as in ISO 8601.
  package var iso8601: String {
    formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
  }

  /// The time of day in the time zone of the user: `14:28`; with the date on another day.
  package var time: String {
    let text = minute
    return text.prefix(10) == Date().minute.prefix(10) ? String(text.suffix(5)) : text
  }

  /// The time of day with seconds: `14:28:59`; with the date on another day.
  package var timeWithSeconds: String {
    let seconds = Int(timeIntervalSince1970.rounded(.down)) % 60
    return time + (seconds < 10 ? ":0" : ":") + "\(seconds)"
  }
}
