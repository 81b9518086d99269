public import CompositeOperations

/// Which events are meant: what happened, to runs of which name.
///
/// ```swift
/// try recorder.expectOrder(.ended("fetch"), .started("save"))
/// ```
///
/// What is not here is made by ``init(_:matching:)``:
///
/// ```swift
/// extension EventPattern {
///   static func firstAttempt(of name: String) -> EventPattern {
///     EventPattern("\(name) starts for the first time") { event in
///       if case .started = event.kind { event.name == name && event.attempt == 1 } else { false }
///     }
///   }
/// }
/// ```
public struct EventPattern: Sendable, CustomStringConvertible {
  public let description: String
  private let matching: @Sendable (OperationEvent) -> Bool

  /// - Parameters:
  ///   - description: What happens, for messages: "save starts".
  ///   - matching: Whether an event is one of those that are meant.
  public init(_ description: String, matching: @escaping @Sendable (OperationEvent) -> Bool) {
    self.description = description
    self.matching = matching
  }

  /// Whether an event is one of those that are meant.
  public func matches(_ event: OperationEvent) -> Bool { matching(event) }

  /// The body of a run begins.
  public static func started(_ name: String) -> EventPattern {
    pattern(name, "starts") { if case .started = $0 { true } else { false } }
  }

  /// A run ends, however it does.
  public static func ended(_ name: String) -> EventPattern {
    pattern(name, "ends") { if case .ended = $0 { true } else { false } }
  }

  /// A run ends in a result.
  public static func succeeded(_ name: String) -> EventPattern {
    pattern(name, "ends in a result") {
      if case .ended(.result, _) = $0 { true } else { false }
    }
  }

  /// A run ends in an error.
  public static func failed(_ name: String) -> EventPattern {
    pattern(name, "ends in an error") {
      if case .ended(.error, _) = $0 { true } else { false }
    }
  }

  /// A run ends in a cancellation.
  public static func cancelled(_ name: String) -> EventPattern {
    pattern(name, "ends in a cancellation") {
      if case .ended(.cancelled, _) = $0 { true } else { false }
    }
  }

  /// A run waits, for whatever it is.
  public static func waited(_ name: String) -> EventPattern {
    pattern(name, "waits") { if case .waitingBegan = $0 { true } else { false } }
  }

  /// A run waits for something.
  public static func waited(_ name: String, for wait: OperationEvent.Wait) -> EventPattern {
    pattern(name, "waits for \(wait)") {
      if case .waitingBegan(wait) = $0 { true } else { false }
    }
  }

  /// An attempt has failed, and another one follows.
  public static func retried(_ name: String) -> EventPattern {
    pattern(name, "is retried") { if case .retryScheduled = $0 { true } else { false } }
  }

  private static func pattern(
    _ name: String, _ what: String, matching: @escaping @Sendable (OperationEvent.Kind) -> Bool
  ) -> EventPattern {
    EventPattern("\(name) \(what)") { $0.name == name && matching($0.kind) }
  }
}
