internal import RecordOperations

/// The rules of CloudKit for names.
enum CloudKitNames {
  private static let longest = 255

  /// The reason why a record cannot have an ID; nil if it can.
  static func problem(of id: RecordID) -> String? {
    if !isIdentifier(id.type) {
      return "the type \(id.type.shortText) \(expectation)"
    }
    if id.name.utf8.first == UInt8(ascii: "_") {
      return
        "the name \(id.name.shortText) begins with an underscore, which CloudKit keeps for itself"
    }
    return problem(ofName: id.name)
  }

  /// The reason why no record has a name; nil if one can have it. CloudKit itself makes names that
  /// begin with an underscore.
  static func problem(ofName name: String) -> String? {
    let bytes = name.utf8
    if (1...longest).contains(bytes.count), bytes.allSatisfy({ (0x20...0x7E).contains($0) }) {
      return nil
    }
    return "the name \(name.shortText) must have 1 to \(longest) characters of ASCII"
  }

  /// The reason why a field cannot have a key; nil if it can.
  static func problem(ofKey key: String) -> String? { isIdentifier(key) ? nil : expectation }

  private static let expectation =
    "has a name that CloudKit does not accept; expected at most \(longest) letters, digits and "
    + "underscores of ASCII, beginning with a letter"

  private static func isIdentifier(_ text: String) -> Bool {
    let bytes = text.utf8
    func isLetter(_ byte: UInt8) -> Bool { (0x41...0x5A).contains(byte & 0xDF) && byte < 0x80 }
    guard let first = bytes.first, isLetter(first), bytes.count <= longest else { return false }
    return bytes.allSatisfy {
      isLetter($0) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "_")
    }
  }
}

extension FieldValue {
  /// The reason why CloudKit cannot store the value; nil if it can.
  var problemInCloudKit: String? {
    if let problem { return problem }
    switch self {
    case .double(let number) where number.isInfinite:
      return "is infinite, which CloudKit cannot store"
    case .reference(let reference):
      if reference.onDelete == .nullify {
        return "has a reference with the rule .nullify, which CloudKit does not have"
      }
      return CloudKitNames.problem(ofName: reference.id.name).map { "has a reference: \($0)" }
    case .list(let elements):
      guard let first = elements.first else { return nil }
      if elements.contains(where: { $0.kind != first.kind || $0 == .null }) {
        return "has a list with null or with values of several types, which CloudKit cannot store"
      }
      return elements.lazy.compactMap(\.problemInCloudKit).first
    case .null, .integer, .double, .string, .bytes, .date: return nil
    }
  }
}
