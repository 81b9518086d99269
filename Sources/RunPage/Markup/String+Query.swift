import Foundation

extension String {
  /// The text in percent encoding, for the value of an item of a query.
  var encodedForQuery: String {
    addingPercentEncoding(withAllowedCharacters: Self.plainCharacters) ?? ""
  }

  private static let plainCharacters = CharacterSet(
    charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_~")

  /// The text in quotes, shortened, for messages.
  var quoted: String { "'\(String(prefix(100)))'" }
}
