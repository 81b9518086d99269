internal import Synchronization

/// The stored contents of a value, which are decoded on demand. The core does not know the
/// encoding.
package protocol JournaledContents: Sendable {
  /// The stored text.
  var text: String { get }

  /// Decodes the value.
  ///
  /// - Throws: An error that says why it cannot be decoded, also if the type is not `Decodable`.
  func decoded<Value>(as type: Value.Type) throws -> Value
}

/// The result of a step as a journal stores it, of which ``FinishedStep/outcome`` of a durable run
/// consists.
public struct JournaledValue: Sendable, CustomStringConvertible {
  private let contents: any JournaledContents

  package init(_ contents: any JournaledContents) { self.contents = contents }

  /// The stored text: JSON, unless the store has another encoding.
  public var text: String { contents.text }

  public var description: String { text }

  /// Decodes the value.
  ///
  /// - Parameter type: The type of the value.
  /// - Throws: The error of the decoder.
  public func decoded<Value: Decodable>(as type: Value.Type) throws -> Value {
    try contents.decoded(as: type)
  }
}

/// A finished step that was read from a journal.
///
/// It knows the names of its types, not the types themselves: they may belong to another build of
/// the program.
final class JournaledStep: StepRecord, @unchecked Sendable {
  private struct Decoded: Sendable {
    /// The values by the type as which they were decoded.
    var values: [ObjectIdentifier: any Sendable] = [:]
    var failure: (any Error)?
  }

  private let name: String
  private let types: StepTypes
  private let end: Outcome<any JournaledContents>
  private let decoded = Lock(Decoded())

  init(named name: String, types: StepTypes, end: Outcome<any JournaledContents>) {
    self.name = name
    self.types = types
    self.end = end
    super.init(isIndirect: true)
  }

  override var anyOperation: any ComposableOperation { JournaledOperationName(operationName: name) }
  override var outcome: Outcome<any Sendable> { end.map { JournaledValue($0) } }
  override var error: (any Error)? { end.error }

  /// The first error of a result that has the requested type and could not be decoded.
  var failure: (any Error)? { decoded.withLock(\.failure) }

  func value<Step: ComposableOperation>(of type: Step.Type) -> Step.Success? {
    guard types.operations.contains(TypeName.of(type)) else { return nil }
    let id = ObjectIdentifier(Step.Success.self)
    if let value = decoded.withLock({ $0.values[id] }) { return value as? Step.Success }
    let value = decode(as: Step.Success.self)
    // The value of another task stays, because freeing it here would run its `deinit` under the lock.
    if let value { decoded.withLock { if $0.values[id] == nil { $0.values[id] = value } } }
    return value
  }

  func value<Value>(as type: Value.Type) -> Value? {
    if type == JournaledValue.self { return outcome.result as? Value }
    return types.success == TypeName.of(type) ? decode(as: type) : nil
  }

  private func decode<Value>(as type: Value.Type) -> Value? {
    guard let contents = end.result else { return nil }
    do { return try contents.decoded(as: type) } catch {
      decoded.withLock { if $0.failure == nil { $0.failure = error } }
      return nil
    }
  }
}

/// The names of the types of a step, as a journal stores them.
package struct StepTypes: Sendable, Equatable {
  /// The operation and the operations that it modifies, the outermost first.
  package let operations: [String]
  /// The type of the result.
  package let success: String

  package init(operations: [String], success: String) {
    self.operations = operations
    self.success = success
  }

  package init<Operation: ComposableOperation>(of operation: Operation) {
    var names = [TypeName.of(Operation.self)]
    var next = operation.modifiedOperation
    while let current = next {
      names.append(TypeName.of(type(of: current)))
      next = current.modifiedOperation
    }
    self.init(operations: names, success: TypeName.of(Operation.Success.self))
  }
}

/// The names of types that are equal in every process and build.
package enum TypeName {
  private struct Names: Sendable {
    let reflected: String
    let mangled: String?
  }

  /// The names do not change, and take microseconds to make.
  private static let cache = Lock<[ObjectIdentifier: Names]>([:])

  /// The reflected name of a type, without the addresses that it contains for private and local
  /// types.
  package static func of(_ type: Any.Type) -> String { names(of: type).reflected }

  /// The mangled name by which a program finds the type; nil if it cannot, because the type is
  /// private or local.
  package static func mangled(_ type: Any.Type) -> String? { names(of: type).mangled }

  private static func names(of type: Any.Type) -> Names {
    let id = ObjectIdentifier(type)
    if let names = cache.withLock({ $0[id] }) { return names }
    let name = String(reflecting: type)
    let isPrivate = name.contains(marker)
    // The mangled name of a private or local type is an address.
    let names = Names(
      reflected: isPrivate ? withoutAddresses(name) : name,
      mangled: isPrivate ? nil : _mangledTypeName(type))
    cache.withLock { $0[id] = names }
    return names
  }

  private static let marker = "(unknown context at $"

  private static func withoutAddresses(_ name: String) -> String {
    var parts = name.split(separator: marker, omittingEmptySubsequences: false)[...]
    var result = parts.removeFirst().description
    // Each part begins with an address, which ends with a parenthesis and a dot.
    for part in parts { result += part.drop { $0 != ")" }.dropFirst(2) }
    return result
  }
}

/// A placeholder for an operation of which only the name is known.
private struct JournaledOperationName: ComposableOperation {
  let operationName: String

  func perform(in context: OperationContext) async throws {
    throw NotPerformableError(name: operationName)
  }
}

private struct NotPerformableError: Error, CustomStringConvertible {
  let name: String
  var description: String {
    "\(name) was read from a journal, which stores only its name, so it cannot be run again"
  }
}

extension FinishedStep {
  /// Creates a step from a journal.
  package init(
    journaledAs name: String, types: StepTypes, end: Outcome<any JournaledContents>, at index: Int
  ) {
    self.init(JournaledStep(named: name, types: types, end: end), at: index)
  }

  /// The error of a result that has the requested type and could not be decoded, so that nil was
  /// returned; nil if there is none.
  package var journalFailure: (any Error)? { (record as? JournaledStep)?.failure }
}
