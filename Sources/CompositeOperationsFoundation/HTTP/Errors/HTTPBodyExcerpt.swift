internal import Foundation

/// The excerpt of a body that errors show.
enum HTTPBodyExcerpt {
  /// The first characters in one line; empty if the body is not text.
  static func text(of body: Data) -> String {
    // A character that is cut off at the end does not make the body binary.
    var text = String(decoding: body.prefix(400), as: UTF8.self)
    while text.last == "\u{FFFD}" { text.removeLast() }
    let isText = text.unicodeScalars.allSatisfy {
      $0 != "\u{FFFD}" && ($0 >= " " || "\t\r\n".unicodeScalars.contains($0))
    }
    guard isText else { return "" }
    let line = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    return line.count > 200 ? line.prefix(200) + "…" : line
  }
}
