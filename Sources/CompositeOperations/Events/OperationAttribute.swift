/// The value of an attribute of a run.
///
/// ```swift
/// let upload = SimpleOperation.withContext { context in
///   context.setAttributes(["upload.bucket": "photos", "upload.bytes": 4_096])
/// }
/// ```
public enum OperationAttribute: Hashable, Sendable {
  /// A text.
  case text(String)
  /// An integer.
  case integer(Int)
  /// A floating-point number.
  case number(Double)
  /// True or false.
  case flag(Bool)
  /// A list of texts.
  case texts([String])
}

extension OperationAttribute: ExpressibleByStringLiteral, ExpressibleByStringInterpolation {
  public init(stringLiteral value: String) { self = .text(value) }
}

extension OperationAttribute: ExpressibleByIntegerLiteral {
  public init(integerLiteral value: Int) { self = .integer(value) }
}

extension OperationAttribute: ExpressibleByFloatLiteral {
  public init(floatLiteral value: Double) { self = .number(value) }
}

extension OperationAttribute: ExpressibleByBooleanLiteral {
  public init(booleanLiteral value: Bool) { self = .flag(value) }
}

extension OperationAttribute: ExpressibleByArrayLiteral {
  public init(arrayLiteral elements: String...) { self = .texts(elements) }
}

extension OperationAttribute: CustomStringConvertible {
  /// The value as text. The texts of a list are separated by commas.
  public var description: String {
    switch self {
    case .text(let text): text
    case .integer(let number): "\(number)"
    case .number(let number): "\(number)"
    case .flag(let flag): "\(flag)"
    case .texts(let texts): texts.joined(separator: ", ")
    }
  }
}

extension [String: OperationAttribute] {
  /// The attributes in the order of their names.
  package var sortedByName: [(key: String, value: OperationAttribute)] {
    sorted { $0.key < $1.key }
  }
}
