internal import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// What a server says about when to come back: the header `Retry-After` (RFC 9110, section 10.2.3).
enum RetryAfter {
  /// What is longer is cut to that: nobody waits for a day to be rid of a trace.
  private static let longest = 300

  /// - Returns: In seconds; nil if it says nothing, or nothing that can be read.
  static func delay(in response: HTTPURLResponse) -> Duration? {
    guard let text = response.value(forHTTPHeaderField: "Retry-After") else { return nil }
    if let seconds = Int(text) { return seconds >= 0 ? .seconds(min(seconds, longest)) : nil }
    let format = DateFormatter()
    format.locale = Locale(identifier: "en_US_POSIX")
    format.timeZone = TimeZone(secondsFromGMT: 0)
    format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
    guard let moment = format.date(from: text) else { return nil }
    // By the clock of the server, which is the one that the moment is of.
    let now = response.value(forHTTPHeaderField: "Date").flatMap { format.date(from: $0) } ?? Date()
    return .seconds(min(max(0, moment.timeIntervalSince(now)), Double(longest)))
  }
}
