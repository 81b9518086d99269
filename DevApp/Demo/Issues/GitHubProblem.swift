import CompositeOperations
import Foundation
import HTTPOperations

/// An error in the responses of the server.
struct GitHubProblem: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

extension GitHubProblem {
  /// Returns the message for an error.
  ///
  /// - Parameter user: The user of the request, if the request was about one.
  static func text(of error: any Error, user: String? = nil) -> String {
    let error = (error as? RetryError)?.errors.last ?? error
    guard let error = error as? HTTPStatusError else { return "\(error)".printable }
    if let text = rateLimit(in: error) { return text }
    return switch (error.status, user) {
    case (401, _): "the server rejected the token in GITHUB_TOKEN. Create a new one, or unset it."
    case (404, let user?):
      "no user is named \(user). Check the spelling, and --api if you passed it. (\(error.request))"
    default: "\(error)".printable
    }
  }

  private static func rateLimit(in error: HTTPStatusError) -> String? {
    guard error.status == 403 || error.status == 429 else { return nil }
    let isUsedUp = error.headers["X-RateLimit-Remaining"] == "0"
    guard isUsedUp || error.retryAfter != nil else { return nil }
    let limit =
      error.headers["X-RateLimit-Limit"].flatMap { Int($0) }
      .map { " of \($0) requests" } ?? ""
    let again =
      if let delay = error.retryAfter {
        "Try again in \(delay.components.seconds) s"
      } else if let moment = error.headers["X-RateLimit-Reset"].flatMap({ UInt32($0) }) {
        "Try again at \(Date(timeIntervalSince1970: Double(moment)).formatted(.iso8601))"
      } else {
        "Try again later"
      }
    return "the rate limit\(limit) is exhausted. \(again), or set GITHUB_TOKEN for a higher limit."
  }
}

extension String {
  /// The text without characters that control a terminal.
  var printable: String {
    String(
      String.UnicodeScalarView(
        unicodeScalars.map { scalar in
          switch scalar.properties.generalCategory {
          case .control, .format, .lineSeparator, .paragraphSeparator: "\u{FFFD}"
          default: scalar
          }
        }))
  }
}
