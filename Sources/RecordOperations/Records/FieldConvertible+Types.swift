#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension FieldValue: FieldConvertible {
  /// Creates the same value.
  public init(fieldValue: FieldValue) { self = fieldValue }
  /// The value itself.
  public var fieldValue: FieldValue { self }
}

extension FieldConvertible where Self: FixedWidthInteger {
  /// Creates an integer from an integer.
  ///
  /// - Throws: A ``FieldValueError`` for another kind of value, and for an integer that this type
  ///   cannot represent.
  public init(fieldValue: FieldValue) throws {
    guard case .integer(let number) = fieldValue, let value = Self(exactly: number) else {
      throw FieldValueError(fieldValue, isNot: Self.self)
    }
    self = value
  }

  /// An integer.
  ///
  /// - Throws: A ``FieldValueError`` if it is larger than the largest `Int64`.
  public var fieldValue: FieldValue {
    get throws {
      guard let number = Int64(exactly: self) else {
        throw FieldValueError(.string("\(self)"), isNot: Int64.self)
      }
      return .integer(number)
    }
  }
}

extension Int: FieldConvertible {}
extension Int8: FieldConvertible {}
extension Int16: FieldConvertible {}
extension Int32: FieldConvertible {}
extension Int64: FieldConvertible {}
extension UInt: FieldConvertible {}
extension UInt8: FieldConvertible {}
extension UInt16: FieldConvertible {}
extension UInt32: FieldConvertible {}
extension UInt64: FieldConvertible {}

extension Bool: FieldConvertible {
  /// Creates a Boolean value from the integer 0 or 1.
  ///
  /// - Throws: A ``FieldValueError`` for any other value.
  public init(fieldValue: FieldValue) throws {
    switch fieldValue {
    case .integer(0): self = false
    case .integer(1): self = true
    default: throw FieldValueError(fieldValue, isNot: Bool.self)
    }
  }

  /// The integer 0 or 1.
  public var fieldValue: FieldValue { .integer(self ? 1 : 0) }
}

extension Double: FieldConvertible {
  /// Creates a number from a double, or from an integer that a `Double` represents exactly.
  ///
  /// - Throws: A ``FieldValueError`` for any other value.
  public init(fieldValue: FieldValue) throws {
    switch fieldValue {
    case .double(let number): self = number
    case .integer(let number):
      guard let value = Double(exactly: number) else {
        throw FieldValueError(fieldValue, isNot: Double.self)
      }
      self = value
    default: throw FieldValueError(fieldValue, isNot: Double.self)
    }
  }

  /// A double.
  public var fieldValue: FieldValue { .double(self) }
}

extension Float: FieldConvertible {
  /// Creates a number from a double, or from an integer that a `Double` represents exactly. It is
  /// rounded to a `Float`.
  ///
  /// - Throws: A ``FieldValueError`` for any other value.
  public init(fieldValue: FieldValue) throws { self = Float(try Double(fieldValue: fieldValue)) }
  /// A double.
  public var fieldValue: FieldValue { .double(Double(self)) }
}

extension String: FieldConvertible {
  /// Creates a string from a string.
  ///
  /// - Throws: A ``FieldValueError`` for another kind of value.
  public init(fieldValue: FieldValue) throws {
    guard case .string(let text) = fieldValue else {
      throw FieldValueError(fieldValue, isNot: String.self)
    }
    self = text
  }

  /// A string.
  public var fieldValue: FieldValue { .string(self) }
}

extension Date: FieldConvertible {
  /// Creates a date from a date.
  ///
  /// - Throws: A ``FieldValueError`` for another kind of value.
  public init(fieldValue: FieldValue) throws {
    guard case .date(let date) = fieldValue else {
      throw FieldValueError(fieldValue, isNot: Date.self)
    }
    self = date
  }

  /// A date.
  public var fieldValue: FieldValue { .date(self) }
}

extension Data: FieldConvertible {
  /// Creates data from bytes.
  ///
  /// - Throws: A ``FieldValueError`` for another kind of value.
  public init(fieldValue: FieldValue) throws {
    guard case .bytes(let bytes) = fieldValue else {
      throw FieldValueError(fieldValue, isNot: Data.self)
    }
    self = Data(bytes)
  }

  /// Bytes.
  public var fieldValue: FieldValue { .bytes(Array(self)) }
}

extension UUID: FieldConvertible {
  /// Creates a UUID from a string, in upper or lower case.
  ///
  /// - Throws: A ``FieldValueError`` for any other value.
  public init(fieldValue: FieldValue) throws {
    guard case .string(let text) = fieldValue, let value = UUID(uuidString: text) else {
      throw FieldValueError(fieldValue, isNot: UUID.self)
    }
    self = value
  }

  /// A string in lower case.
  public var fieldValue: FieldValue { .string(uuidString.lowercased()) }
}

extension URL: FieldConvertible {
  /// Creates a URL from a string.
  ///
  /// - Throws: A ``FieldValueError`` for any other value.
  public init(fieldValue: FieldValue) throws {
    guard case .string(let text) = fieldValue, let value = URL(string: text) else {
      throw FieldValueError(fieldValue, isNot: URL.self)
    }
    self = value
  }

  /// The absolute string of the URL.
  public var fieldValue: FieldValue { .string(absoluteString) }
}

extension Decimal: FieldConvertible {
  /// Creates a decimal from an integer, or from a string with a number. A double is refused,
  /// because it is a different number.
  ///
  /// - Throws: A ``FieldValueError`` for any other value.
  public init(fieldValue: FieldValue) throws {
    switch fieldValue {
    case .integer(let number): self = Decimal(number)
    case .string(let text):
      // A string that only begins with a number is refused.
      guard text.wholeMatch(of: /[-+]?\d+(\.\d+)?([eE][-+]?\d+)?/) != nil,
        let value = Decimal(string: text)
      else { fallthrough }
      self = value
    default: throw FieldValueError(fieldValue, isNot: Decimal.self)
    }
  }

  /// The digits of the decimal, as a string. Queries can find equal decimals, but cannot order
  /// them.
  public var fieldValue: FieldValue { .string("\(self)") }
}

extension RecordReference: FieldConvertible {
  /// Creates a reference from a reference.
  ///
  /// - Throws: A ``FieldValueError`` for another kind of value.
  public init(fieldValue: FieldValue) throws {
    guard case .reference(let reference) = fieldValue else {
      throw FieldValueError(fieldValue, isNot: RecordReference.self)
    }
    self = reference
  }

  /// A reference.
  public var fieldValue: FieldValue { .reference(self) }
}

extension Optional: FieldConvertible where Wrapped: FieldConvertible {
  /// Creates `nil` from null, and a wrapped value from any other value.
  ///
  /// - Throws: A ``FieldValueError`` if the wrapped type cannot be created from the value.
  public init(fieldValue: FieldValue) throws {
    self = fieldValue == .null ? nil : try Wrapped(fieldValue: fieldValue)
  }

  /// The value of the wrapped type, or null for `nil`.
  ///
  /// - Throws: A ``FieldValueError`` if no field can hold the wrapped value.
  public var fieldValue: FieldValue { get throws { try map { try $0.fieldValue } ?? .null } }
}

extension Array: FieldConvertible where Element: FieldConvertible {
  /// Creates an array from a list or the JSON of one, or an array of `UInt8` from bytes.
  ///
  /// - Throws: A ``FieldValueError`` for another kind of value, and for an element that cannot be
  ///   created.
  public init(fieldValue: FieldValue) throws {
    switch fieldValue {
    case .list(let values): self = try values.map { try Element(fieldValue: $0) }
    case .bytes(let bytes) where Element.self == UInt8.self:
      self = try bytes.map { try Element(fieldValue: .integer(Int64($0))) }
    case .string(let text):
      guard case .list(let values)? = FieldValue(listText: text) else { fallthrough }
      self = try values.map { try Element(fieldValue: $0) }
    default: throw FieldValueError(fieldValue, isNot: Self.self)
    }
  }

  /// A list, in which an array is JSON, or bytes for an array of `UInt8`.
  ///
  /// - Throws: A ``FieldValueError`` if no field can hold an element.
  public var fieldValue: FieldValue {
    get throws {
      // An empty array of any type can be cast to `[UInt8]`.
      if Element.self == UInt8.self, let bytes = self as? [UInt8] { return .bytes(bytes) }
      return .list(
        try map { element in
          let value = try element.fieldValue
          guard case .list(let values) = value else { return value }
          return .string(try FieldValue.listText(values))
        })
    }
  }
}
