#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension FieldValue: FieldConvertible {
  public init(fieldValue: FieldValue) { self = fieldValue }
  public var fieldValue: FieldValue { self }
}

extension FieldConvertible where Self: FixedWidthInteger {
  public init(fieldValue: FieldValue) throws {
    guard case .integer(let number) = fieldValue, let value = Self(exactly: number) else {
      throw FieldValueError(fieldValue, isNot: Self.self)
    }
    self = value
  }

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
  public init(fieldValue: FieldValue) throws {
    switch fieldValue {
    case .integer(0): self = false
    case .integer(1): self = true
    default: throw FieldValueError(fieldValue, isNot: Bool.self)
    }
  }

  public var fieldValue: FieldValue { .integer(self ? 1 : 0) }
}

extension Double: FieldConvertible {
  /// An integer is taken, too, if it is one of those that a `Double` can be.
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

  public var fieldValue: FieldValue { .double(self) }
}

extension Float: FieldConvertible {
  public init(fieldValue: FieldValue) throws { self = Float(try Double(fieldValue: fieldValue)) }
  public var fieldValue: FieldValue { .double(Double(self)) }
}

extension String: FieldConvertible {
  public init(fieldValue: FieldValue) throws {
    guard case .string(let text) = fieldValue else {
      throw FieldValueError(fieldValue, isNot: String.self)
    }
    self = text
  }

  public var fieldValue: FieldValue { .string(self) }
}

extension Date: FieldConvertible {
  public init(fieldValue: FieldValue) throws {
    guard case .date(let date) = fieldValue else {
      throw FieldValueError(fieldValue, isNot: Date.self)
    }
    self = date
  }

  public var fieldValue: FieldValue { .date(self) }
}

extension Data: FieldConvertible {
  public init(fieldValue: FieldValue) throws {
    guard case .bytes(let bytes) = fieldValue else {
      throw FieldValueError(fieldValue, isNot: Data.self)
    }
    self = Data(bytes)
  }

  public var fieldValue: FieldValue { .bytes(Array(self)) }
}

extension UUID: FieldConvertible {
  public init(fieldValue: FieldValue) throws {
    guard case .string(let text) = fieldValue, let value = UUID(uuidString: text) else {
      throw FieldValueError(fieldValue, isNot: UUID.self)
    }
    self = value
  }

  public var fieldValue: FieldValue { .string(uuidString.lowercased()) }
}

extension URL: FieldConvertible {
  public init(fieldValue: FieldValue) throws {
    guard case .string(let text) = fieldValue, let value = URL(string: text) else {
      throw FieldValueError(fieldValue, isNot: URL.self)
    }
    self = value
  }

  /// Its whole text.
  public var fieldValue: FieldValue { .string(absoluteString) }
}

extension Decimal: FieldConvertible {
  /// An integer is taken, too; a double is not, because it is another number.
  public init(fieldValue: FieldValue) throws {
    switch fieldValue {
    case .integer(let number): self = Decimal(number)
    case .string(let text):
      // A text that only begins with a number is none.
      guard text.wholeMatch(of: /[-+]?\d+(\.\d+)?([eE][-+]?\d+)?/) != nil,
        let value = Decimal(string: text)
      else { fallthrough }
      self = value
    default: throw FieldValueError(fieldValue, isNot: Decimal.self)
    }
  }

  /// Its digits, as a text: equal ones are found, but they have no order.
  public var fieldValue: FieldValue { .string("\(self)") }
}

extension RecordReference: FieldConvertible {
  public init(fieldValue: FieldValue) throws {
    guard case .reference(let reference) = fieldValue else {
      throw FieldValueError(fieldValue, isNot: RecordReference.self)
    }
    self = reference
  }

  public var fieldValue: FieldValue { .reference(self) }
}

extension Optional: FieldConvertible where Wrapped: FieldConvertible {
  public init(fieldValue: FieldValue) throws {
    self = fieldValue == .null ? nil : try Wrapped(fieldValue: fieldValue)
  }

  public var fieldValue: FieldValue { get throws { try map { try $0.fieldValue } ?? .null } }
}

extension Array: FieldConvertible where Element: FieldConvertible {
  public init(fieldValue: FieldValue) throws {
    switch fieldValue {
    case .list(let values): self = try values.map { try Element(fieldValue: $0) }
    case .bytes(let bytes) where Element.self == UInt8.self:
      self = try bytes.map { try Element(fieldValue: .integer(Int64($0))) }
    default: throw FieldValueError(fieldValue, isNot: Self.self)
    }
  }

  public var fieldValue: FieldValue {
    get throws {
      // Any other array can be cast to one of bytes, too, if it is empty.
      if Element.self == UInt8.self, let bytes = self as? [UInt8] { return .bytes(bytes) }
      return .list(try map { try $0.fieldValue })
    }
  }
}
