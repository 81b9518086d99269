import CompositeOperations
import Foundation

/// What the operations of a test have done.
///
/// They find it through a task-local value, because a durable flow holds only data.
final class Effects: Sendable {
  struct Effect: Hashable, Sendable {
    let name: String
    let key: String?
    let token: Int?
  }

  @TaskLocal static var current: Effects?

  private let lock = Lock<[Effect]>([])

  var all: [Effect] { lock.withLock { $0 } }
  var names: [String] { all.map(\.name) }
  /// The effects that a service with a detection of repeated requests has.
  var once: Set<Effect> {
    Set(all.map { Effect(name: $0.name, key: $0.key, token: nil) })
  }

  func add(_ name: String, _ context: OperationContext) {
    let effect = Effect(
      name: name, key: context.idempotencyKey, token: context.fencingToken)
    lock.withLock { $0.append(effect) }
  }

  /// Performs a body whose operations add their effects here.
  static func recorded<Value>(
    _ body: (Effects) async throws -> Value
  ) async throws -> Value {
    let effects = Effects()
    return try await $current.withValue(effects) { try await body(effects) }
  }
}

/// An operation with an effect and a result.
struct Note: ComposableOperation {
  let name: String
  var value = 0

  init(_ name: String, _ value: Int = 0) {
    self.name = name
    self.value = value
  }

  var operationName: String { name }

  func perform(in context: OperationContext) async throws -> Int {
    Effects.current?.add(name, context)
    return value
  }
}

/// An operation with an effect and an error.
struct Failure: ComposableOperation {
  let name: String
  let error: any Error & Sendable

  var operationName: String { name }

  func perform(in context: OperationContext) async throws -> Int {
    Effects.current?.add(name, context)
    throw error
  }
}

/// An operation that waits until its task is cancelled.
struct Endless: ComposableOperation {
  var operationName: String { "Endless" }

  func perform(in context: OperationContext) async throws -> Int {
    Effects.current?.add("begun", context)
    Endless.begun?.yield()
    try await Task.sleep(for: .seconds(3_600))
    return 0
  }

  /// Tells a test that the operation has begun.
  @TaskLocal static var begun: AsyncStream<Void>.Continuation?
}

struct CodableError: Error, Codable, Hashable { var code = 0 }

struct PlainError: Error, CustomStringConvertible { var description: String { "it is full" } }
