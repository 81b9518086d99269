public import CompositeOperations

/// A pattern that matches events by what happened and by the name of the run.
///
/// ```swift
/// try recorder.expectOrder(.ended("fetch"), .started("save"))
/// ```
///
/// Use ``init(_:matching:)`` for other patterns:
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
  /// The event in words, for messages, such as "save starts".
  public let description: String
  private let matching: @Sendable (OperationEvent) -> Bool

  /// Creates a pattern.
  ///
  /// - Parameters:
  ///   - description: The event in words, for messages, such as "save starts".
  ///   - matching: Returns whether an event matches.
  public init(_ description: String, matching: @escaping @Sendable (OperationEvent) -> Bool) {
    self.description = description
    self.matching = matching
  }

  /// Returns whether an event matches the pattern.
  public func matches(_ event: OperationEvent) -> Bool { matching(event) }

  /// Matches the start of a run.
  public static func started(_ name: String) -> EventPattern {
    pattern(name, "starts") { if case .started = $0 { true } else { false } }
  }

  /// Matches the end of a run, whatever its outcome is.
  public static func ended(_ name: String) -> EventPattern {
    pattern(name, "ends") { if case .ended = $0 { true } else { false } }
  }

  /// Matches the end of a run in a result.
  public static func succeeded(_ name: String) -> EventPattern {
    pattern(name, "ends in a result") {
      if case .ended(.result, _) = $0 { true } else { false }
    }
  }

  /// Matches the end of a run in an error.
  public static func failed(_ name: String) -> EventPattern {
    pattern(name, "ends in an error") {
      if case .ended(.error, _) = $0 { true } else { false }
    }
  }

  /// Matches the end of a run in a cancellation.
  public static func cancelled(_ name: String) -> EventPattern {
    pattern(name, "ends in a cancellation") {
      if case .ended(.cancelled, _) = $0 { true } else { false }
    }
  }

  /// Matches the start of any wait of a run.
  public static func waited(_ name: String) -> EventPattern {
    pattern(name, "waits") { if case .waitingBegan = $0 { true } else { false } }
  }

  /// Matches the start of a given wait of a run.
  public static func waited(_ name: String, for wait: OperationEvent.Wait) -> EventPattern {
    pattern(name, "waits for \(wait)") {
      if case .waitingBegan(wait) = $0 { true } else { false }
    }
  }

  /// Matches the scheduling of another attempt after a failure.
  public static func retried(_ name: String) -> EventPattern {
    pattern(name, "is retried") { if case .retryScheduled = $0 { true } else { false } }
  }

  private static func pattern(
    _ name: String, _ what: String, matching: @escaping @Sendable (OperationEvent.Kind) -> Bool
  ) -> EventPattern {
    EventPattern("\(name) \(what)") { $0.name == name && matching($0.kind) }
  }
}
