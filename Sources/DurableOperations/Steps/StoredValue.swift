package import CompositeOperations

/// The encoding of results, of which only `Codable` values and `Void` can be stored.
enum StoredValue {
  /// The text of `Void`.
  static let void = "null"

  static func isStorable(_ type: Any.Type) -> Bool {
    type == Void.self || type == [Void].self || type is any Codable.Type
  }

  /// - Throws: The error of the coder.
  static func encode(_ value: any Sendable, by coder: any RunCoder) throws -> String {
    if let value = value as? any Codable { return try coder.encode(value) }
    if let values = value as? [Void] { return try coder.encode(values.count) }
    return try coder.encode(VoidValue())
  }

  /// - Throws: The error of the coder, or a `DecodingError` if the type is not `Codable`.
  static func decode<Value>(
    _ type: Value.Type, from text: String, by coder: any RunCoder
  ) throws -> Value {
    if type == Void.self, let void = () as? Value { return void }
    if type == [Void].self {
      let count = try coder.decode(Int.self, from: text)
      if let values = [Void](repeating: (), count: count) as? Value { return values }
    }
    if let codable = type as? any Codable.Type,
      let value = try decode(codable, text, coder) as? Value
    {
      return value
    }
    throw DecodingError.typeMismatch(
      type, DecodingError.Context(codingPath: [], debugDescription: "\(type) is not Codable"))
  }

  private static func decode<Value: Codable>(
    _ type: Value.Type, _ text: String, _ coder: any RunCoder
  ) throws -> Any {
    try coder.decode(type, from: text)
  }
}

/// `Void` as a value.
private struct VoidValue: Codable {
  init() {}
  init(from decoder: any Decoder) throws {}
  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encodeNil()
  }
}

/// The stored text of a result.
struct StoredContents: JournaledContents {
  let text: String
  let coder: any RunCoder

  func decoded<Value>(as type: Value.Type) throws -> Value {
    try StoredValue.decode(type, from: text, by: coder)
  }
}

extension StoredStep {
  /// The step as the sequence sees it.
  ///
  /// - Throws: An error if its stored error cannot be read.
  package func finishedStep(_ options: RunStoreOptions) throws -> FinishedStep {
    let coder = options.coder
    let types = options.current(types)
    let end: Outcome<any JournaledContents> =
      switch kind {
      case .result: .result(StoredContents(text: value ?? StoredValue.void, coder: coder))
      case .error:
        .error(try coder.decode(StoredError.self, from: value ?? "").restored(options))
      case .cancelled, .attempts, .wake: .cancelled
      }
    return FinishedStep(journaledAs: name, types: types, end: end, at: position)
  }
}
