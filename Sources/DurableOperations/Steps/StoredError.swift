internal import CompositeOperations

/// An error as a journal stores it.
struct StoredError: Codable, Sendable {
  /// The reflected name of its type.
  let type: String
  /// The mangled name of its type, if the error is `Codable`.
  let mangledName: String?
  /// The encoded error, if it is `Codable`.
  let value: String?
  let description: String

  init(_ error: any Error, by coder: any RunCoder) {
    if let journaled = error as? JournaledError {
      (type, mangledName, value) = (journaled.type, nil, nil)
      description = journaled.description
      return
    }
    let type = Swift.type(of: error) as any Any.Type
    self.type = TypeName.of(type)
    description = "\(error)"
    let codable = error as? any Error & Codable
    value = codable.flatMap { try? coder.encode($0) }
    mangledName = value == nil ? nil : TypeName.mangled(type)
  }

  /// Returns the error itself if this program has its type and can decode it, and a
  /// ``JournaledError`` otherwise.
  func restored(_ options: RunStoreOptions) -> any Error {
    let type = options.type(formerly: type) ?? mangledName.flatMap { _typeByName($0) }
    if let value, let type = type as? any (Error & Codable).Type,
      let error = try? decode(type, value, by: options.coder)
    {
      return error
    }
    return JournaledError(type: self.type, description: description)
  }

  private func decode<Value: Error & Codable>(
    _ type: Value.Type, _ text: String, by coder: any RunCoder
  ) throws -> any Error {
    try coder.decode(type, from: text)
  }
}

/// The error of a run as a journal stores it.
struct StoredRunError: Codable, Sendable {
  enum Origin: String, Codable, Sendable {
    /// The last step failed.
    case step
    /// The sequence threw.
    case sequence
  }

  let error: StoredError
  let origin: Origin
}
