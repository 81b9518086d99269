internal import Foundation

/// What a server says about when to come back: the header `Retry-After` (RFC 9110, section 10.2.3).
enum RetryAfter {
  /// How long those wait at most who do not say otherwise: nobody waits for a day to be rid of a trace.
  static let longest = Duration.seconds(300)

  /// - Returns: Nil if it says nothing, or nothing that can be read.
  static func delay(in headers: HTTPHeaders) -> Duration? {
    guard let text = headers["Retry-After"]?.trimmingCharacters(in: .whitespaces) else {
      return nil
    }
    if !text.isEmpty, text.allSatisfy({ ("0"..."9").contains($0) }) {
      return .seconds(Int(text) ?? .max)
    }
    guard let moment = HTTPDate.date(from: text) else { return nil }
    // By the clock of the server, which is the one that the moment is of.
    let now = headers["Date"].flatMap { HTTPDate.date(from: $0) } ?? Date()
    return .seconds(max(0, moment.timeIntervalSince(now)))
  }
}
