/// A date and a time of day in UTC, printed in the format of ISO 8601: `2026-11-22T12:03:04.123Z`.
package struct CivilTime: CustomStringConvertible {
  private let seconds: Int64
  private let milliseconds: Int64

  package init(_ nanosecondsSince1970: Int64) {
    let all = nanosecondsSince1970 / 1_000_000
    seconds = all / 1_000 - (all % 1_000 < 0 ? 1 : 0)
    milliseconds = all - seconds * 1_000
  }

  package var description: String {
    var moment = time_t(seconds)
    var date = unsafe tm()
    guard unsafe gmtime_r(&moment, &date) != nil else { return "\(seconds)" }
    let day = unsafe (date.tm_year, date.tm_mon, date.tm_mday)
    let clock = unsafe (date.tm_hour, date.tm_min, date.tm_sec)
    return "\((day.0 + 1_900).padded(to: 4))-\((day.1 + 1).padded(to: 2))-\(day.2.padded(to: 2))"
      + "T\(clock.0.padded(to: 2)):\(clock.1.padded(to: 2)):\(clock.2.padded(to: 2))"
      + ".\(Int32(milliseconds).padded(to: 3))Z"
  }
}

extension Int32 {
  fileprivate func padded(to width: Int) -> String {
    let digits = "\(self)"
    return String(repeating: "0", count: Swift.max(0, width - digits.count)) + digits
  }
}
