internal import Foundation

/// The delay in a `Retry-After` header (RFC 9110, section 10.2.3).
enum RetryAfter {
  /// The longest delay unless the caller permits more: an export of a trace must not wait for a
  /// day.
  static let longest = Duration.seconds(300)

  /// - Returns: Nil if there is no such header, or if it is malformed.
  static func delay(in headers: HTTPHeaders) -> Duration? {
    guard let text = headers["Retry-After"]?.trimmingCharacters(in: .whitespaces) else {
      return nil
    }
    if !text.isEmpty, text.allSatisfy({ ("0"..."9").contains($0) }) {
      return .seconds(Int(text) ?? .max)
    }
    guard let moment = HTTPDate.date(from: text) else { return nil }
    // Relative to the clock of the server, because the date is from that clock.
    let now = headers["Date"].flatMap { HTTPDate.date(from: $0) } ?? Date()
    return .seconds(max(0, moment.timeIntervalSince(now)))
  }
}
