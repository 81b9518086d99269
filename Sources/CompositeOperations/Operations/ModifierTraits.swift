/// A modifier with observers of its own.
///
/// They join the other observers of the run: the modifier and its operation share one run. The
/// modifier has a ``ComposableOperation/modifiedOperation``.
package protocol ObserverBearing: ComposableOperation {
  /// The observers, evaluated once per run.
  var observers: [any OperationObserver] { get }
}

/// A modifier that sets the weight of the operation in the progress of its parent.
package protocol WeightBearing: ComposableOperation {
  var weight: Double { get }
}

/// A modifier that changes the name of the operation.
package protocol NameBearing: ComposableOperation {}

/// The traits that modifiers add to an operation, down to a modifier with a separate run.
struct ModifierTraits {
  private(set) var observers: [any OperationObserver] = []
  /// The number of modifiers with observers.
  private(set) var bearers = 0
  private(set) var share = ProgressShare()

  // Evaluated for every run that is started or observed. A cast to a protocol without arguments is
  // fast; one to a protocol with arguments takes microseconds.
  init(of operation: some ComposableOperation) {
    if operation.modifiedOperation == nil { return }
    share.weight = Float(min(operation.weight, 1e30))
    var next: (any ComposableOperation)? = operation
    var isRenamed = false
    while let current = next {
      if let separate = current as? any SeparateRun {
        share.isThatOfChild = !separate.isRepeating
        share.isOfModifier = separate.runsChild && !isRenamed
        return
      }
      if current is any NameBearing { isRenamed = true }
      next = current.modifiedOperation
      if next != nil { add(current) }
    }
  }

  private mutating func add(_ operation: any ComposableOperation) {
    guard let bearer = operation as? any ObserverBearing else { return }
    let own = bearer.observers
    if own.isEmpty { return }
    observers += own
    bearers += 1
  }
}

extension ComposableOperation {
  /// The weight in the progress of the parent, set by the outermost `weighing` among the first 64
  /// modifiers.
  var weight: Double {
    // Evaluated for every child of an observed list. Most are not modifiers, and a cast is slow.
    guard modifiedOperation != nil else { return 1 }
    var next: (any ComposableOperation)? = self
    // Bounded: every level of a deep composition searches the levels below it.
    for _ in 0..<ModifiedName.reach {
      guard let current = next else { break }
      next = current.modifiedOperation
      if next != nil, let weighed = current as? any WeightBearing { return weighed.weight }
    }
    return 1
  }
}

/// A modifier that has the result type of its operation and shares its run.
@usableFromInline package protocol TransparentOperation<Success>: ComposableOperation
where Success == Base.Success {
  associatedtype Base: ComposableOperation
  var base: Base { get }
}

extension TransparentOperation {
  @inlinable public var operationName: String { modifiedName(within: ModifiedName.reach).text }
  @_documentation(visibility: internal)
  @inlinable public var modifiedOperation: (any ComposableOperation)? { base }

  @_documentation(visibility: internal)
  @inlinable public func modifiedName(within reach: Int) -> ModifiedName {
    base.nameForModifier(within: reach)
  }

  @inlinable public nonisolated(nonsending) func perform(
    in context: OperationContext
  ) async throws -> Success {
    do { return try await performHeld(in: context).value } catch { throw error.withoutLateOutcome }
  }

  @_documentation(visibility: internal)
  @inlinable public nonisolated(nonsending) func performHeld(
    in context: OperationContext
  ) async throws -> HeldResult<Success> {
    try await base.performHeld(in: context)
  }
}

/// A modifier whose operation has a run of its own, apart from the run of the modifier.
///
/// Observers of the modified operation see only that run.
@usableFromInline protocol SeparateRun<Success>: ComposableOperation
where Success == Base.Success {
  associatedtype Base: ComposableOperation
  var base: Base { get }

  /// Whether the modifier runs the operation again after a result.
  var isRepeating: Bool { get }

  /// Whether the operation runs as a child, not as a run without a parent.
  var runsChild: Bool { get }
}

extension SeparateRun {
  @inlinable public var isRepeating: Bool { false }
  @inlinable public var runsChild: Bool { true }
  @inlinable public var operationName: String { modifiedName(within: ModifiedName.reach).text }
  @_documentation(visibility: internal)
  @inlinable public var modifiedOperation: (any ComposableOperation)? { base }

  @_documentation(visibility: internal)
  @inlinable public func modifiedName(within reach: Int) -> ModifiedName {
    base.nameForModifier(within: reach)
  }

  @inlinable public nonisolated(nonsending) func perform(
    in context: OperationContext
  ) async throws -> Success {
    do { return try await performHeld(in: context).value } catch { throw error.withoutLateOutcome }
  }
}
