/// A JSON object of a request. Reading rejects unknown keys and values of other types with
/// `BAD_REQUEST`. A key whose value is `null` counts as absent.
struct RequestObject {
  private let members: [String: CloudValue]
  private let path: String

  /// - Parameters:
  ///   - path: The object's place in the request, for error messages.
  ///   - keys: The keys that the reference names.
  init(_ value: CloudValue, at path: String, keys: Set<String>) throws {
    guard case .object(let object) = value else {
      throw CloudError.badRequest("\(path) must be a dictionary")
    }
    if let key = object.keys.sorted().first(where: { !keys.contains($0) }) {
      throw CloudError.badRequest("\(path): unknown key '\(key)'")
    }
    members = object.filter { $0.value != .null }
    self.path = path
  }

  subscript(key: String) -> CloudValue? { members[key] }

  func required<Value>(_ key: String, _ value: Value?) throws -> Value {
    guard let value else { throw CloudError.badRequest("\(path): missing key '\(key)'") }
    return value
  }

  func string(_ key: String) throws -> String? {
    guard let value = members[key] else { return nil }
    guard case .string(let text) = value else { throw mismatch(key, "a string") }
    return text
  }

  func boolean(_ key: String) throws -> Bool? {
    guard let value = members[key] else { return nil }
    guard case .boolean(let boolean) = value else { throw mismatch(key, "a Boolean") }
    return boolean
  }

  func integer(_ key: String) throws -> Int? {
    guard let value = members[key] else { return nil }
    guard case .integer(let integer) = value else { throw mismatch(key, "an integer") }
    return Int(integer)
  }

  func array(_ key: String) throws -> [CloudValue]? {
    guard let value = members[key] else { return nil }
    guard case .array(let array) = value else { throw mismatch(key, "an array") }
    return array
  }

  func strings(_ key: String) throws -> Set<String>? {
    guard let array = try array(key) else { return nil }
    return Set(
      try array.map {
        guard case .string(let text) = $0 else { throw mismatch(key, "an array of strings") }
        return text
      })
  }

  func object(_ key: String, keys: Set<String>) throws -> RequestObject? {
    try members[key].map { try RequestObject($0, at: "\(path).\(key)", keys: keys) }
  }

  /// The elements of an array of dictionaries.
  func objects(_ key: String, keys: Set<String>) throws -> [RequestObject]? {
    try array(key)?.enumerated().map {
      try RequestObject($1, at: "\(path).\(key)[\($0)]", keys: keys)
    }
  }

  /// A number of results between 1 and the limit. A greater one is reduced to the limit.
  func resultsLimit(atMost limit: Int) throws -> Int {
    let count = try integer("resultsLimit") ?? limit
    if count < 1 {
      throw CloudError.badRequest("\(path): 'resultsLimit' must be at least 1 (was \(count))")
    }
    return min(count, limit)
  }

  private func mismatch(_ key: String, _ kind: String) -> CloudError {
    .badRequest("\(path): '\(key)' must be \(kind)")
  }
}
