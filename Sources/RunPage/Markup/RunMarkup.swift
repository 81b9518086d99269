import DurableOperations
import FlowFiles
import Foundation
import SystemSupport

extension RunState {
  /// The state as a word with its color.
  var badge: HTML { "<span class=\"state \(HTML(stringLiteral: rawValue))\">\(rawValue)</span>" }
}

extension Date {
  /// How long ago it was, with the exact time as a tooltip.
  func age(at now: Date) -> HTML {
    let seconds = max(0, now.timeIntervalSince(self))
    let text: String
    switch seconds {
    case ..<60: text = "\(Int(seconds)) s"
    case ..<3_600: text = "\(Int(seconds / 60)) min"
    case ..<86_400: text = "\(Int(seconds / 3_600)) h"
    default: text = "\(Int(seconds / 86_400)) d"
    }
    return "<time datetime=\"\(iso8601)\" title=\"\(iso8601)\" data-ago>\(text) ago</time>"
  }

  /// How long it is until then, with the exact time as a tooltip.
  func countdown(at now: Date) -> HTML {
    let left = Duration.milliseconds(max(0, Int64(timeIntervalSince(now) * 1_000)))
    return
      "in <time datetime=\"\(iso8601)\" title=\"\(iso8601)\" data-until>\(left.readableTime)</time>"
  }

  /// How long something has taken that has begun then, and has not ended.
  func duration(at now: Date) -> HTML {
    let time = Duration.milliseconds(max(0, Int64(now.timeIntervalSince(self) * 1_000)))
    return
      "<time datetime=\"\(iso8601)\" title=\"since \(iso8601)\" data-since>\(time.readableTime)</time>"
  }
}

extension RunID {
  /// The address of the page of the run. The name is no part of the path, because it may contain
  /// slashes.
  var path: String { path(to: nil) }

  /// The address of a part of the page.
  func path(to part: String?, _ items: [(String, String)] = []) -> String {
    let query = ([("id", text)] + items).map { "\($0)=\($1.encodedForQuery)" }
    return "/run\(part.map { "/" + $0 } ?? "")?\(query.joined(separator: "&"))"
  }

  var link: HTML { "<a href=\"\(attribute: path)\">\(text)</a>" }
}
