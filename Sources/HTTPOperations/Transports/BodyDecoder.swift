/// Undoes the content codings of a body, in the reverse order of their application.
final class BodyDecoder {
  /// More codings than this are a mistake or an attack.
  private static let limit = 2
  /// How many bytes a coding may take in one call without output.
  private static let inputLimit = 1 << 20

  /// The codings that remain, as the server lists them; nil if all are undone. They are unknown, or
  /// were applied before an unknown one.
  let rest: String?
  private let stages: [any ContentDecoder]

  /// - Parameter codings: The value of `Content-Encoding` in lower case; nil if there is none.
  init(_ codings: String?, isLenient: Bool) {
    var rest = codings.map(Self.list) ?? []
    var stages: [any ContentDecoder] = []
    while let coding = rest.last {
      if coding != "identity" {
        guard stages.count < Self.limit, let stage = Self.stage(coding, isLenient: isLenient)
        else { break }
        stages.append(stage)
      }
      rest.removeLast()
    }
    self.rest = rest.isEmpty ? nil : rest.joined(separator: ", ")
    self.stages = stages
  }

  private static func stage(_ coding: String, isLenient: Bool) -> (any ContentDecoder)? {
    Inflater(coding: coding, isLenient: isLenient)
      ?? LibraryDecoder(coding: coding, isLenient: isLenient)
  }

  private static func list(_ codings: String) -> [String] {
    codings.split(separator: ",", omittingEmptySubsequences: false).map { item in
      item.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
  }

  /// Whether the body is delivered as it was sent.
  var isIdentity: Bool { stages.isEmpty }

  /// - Throws: An error if the body must not end here.
  func end() throws(HTTPTransportError) { for stage in stages { try stage.end() } }

  /// Adds the next bytes of the body, after ``next()`` has returned nil.
  func add(_ bytes: [UInt8]) { stages[0].add(bytes) }

  /// - Returns: Nil if more input is needed. No bytes after much work without output: then the
  ///   caller can check for a cancellation and call it again.
  /// - Throws: An error if the body is invalid.
  func next() throws(HTTPTransportError) -> [UInt8]? { try next(stages.count - 1) }

  private func next(_ index: Int) throws(HTTPTransportError) -> [UInt8]? {
    var count = 0
    while count < Self.inputLimit {
      if let bytes = try stages[index].next() { return bytes }
      guard index > 0, let input = try next(index - 1) else { return nil }
      if input.isEmpty { break }
      stages[index].add(input)
      count += input.count
    }
    return []
  }
}
