import Foundation

/// The error of a step or of a run, as a journal stores it.
struct RunError {
  let text: String

  /// - Parameter stored: The stored error; nil if the text is not one, as in an encrypted journal.
  init?(_ stored: String) {
    let value = try? JSONSerialization.jsonObject(with: Data(stored.utf8)) as? [String: Any]
    // The error of a run also has its origin.
    guard let error = value?["error"] as? [String: Any] ?? value,
      let type = error["type"] as? String, let description = error["description"] as? String
    else { return nil }
    text = "\(type): \(description)"
  }
}
