internal import Foundation

/// What errors show of a body.
enum HTTPBodyExcerpt {
  /// The first characters in one line; nothing if it is no text.
  static func text(of body: Data) -> String {
    // A character that was cut in two at the end is no reason to show nothing.
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
