extension DecodingError {
  /// The error with its place, such as `[3].owner.name is missing.`
  ///
  /// - Parameter whole: The words for the outermost value, such as "the body".
  package func text(_ whole: String) -> String {
    func place(_ path: [any CodingKey]) -> String {
      let text = path.map { key in key.intValue.map { "[\($0)]" } ?? ".\(key.stringValue)" }
        .joined()
      return text.isEmpty ? whole : text.hasPrefix(".") ? String(text.dropFirst()) : text
    }
    return switch self {
    case .typeMismatch(let type, let context):
      "\(place(context.codingPath)) is not of type \(type). \(context.debugDescription)"
    case .valueNotFound(let type, let context):
      "\(place(context.codingPath)) is null, not of type \(type). \(context.debugDescription)"
    case .keyNotFound(let key, let context):
      "\(place(context.codingPath + [key])) is missing."
    case .dataCorrupted(let context):
      "\(place(context.codingPath)) is malformed. \(context.debugDescription)"
    @unknown default: "\(self)"
    }
  }
}
