import CompositeOperations

/// The invariants of identities, parents and paths in events.
enum PlaceLaws {
  /// Returns the violated invariants.
  ///
  /// - Parameter events: The events of an outermost run and of all runs below it.
  static func findings(in events: [OperationEvent]) -> [String] {
    var findings: [String] = []
    var paths: [OperationID: [String]] = [:]
    for event in events {
      let above = event.parent.map { paths[$0] ?? ["of an unknown parent"] } ?? []
      if event.path.names != above + [event.name] {
        findings.append("\(event) is not below \(above)")
      }
      if let parent = event.parent, parent >= event.id {
        findings.append("\(event) is older than its parent \(parent)")
      }
      paths[event.id] = event.path.names
    }
    if events.count(where: { $0.parent == nil && $0.isCreation }) != 1 {
      findings.append("the number of outermost runs is not 1")
    }
    return findings
  }
}

extension OperationEvent {
  var isCreation: Bool { if case .created = kind { true } else { false } }
  var isStart: Bool { if case .started = kind { true } else { false } }
  var isEnd: Bool { if case .ended = kind { true } else { false } }
  var isRepetition: Bool { if case .finishedAgain = kind { true } else { false } }
  var isCancellationRequest: Bool { if case .cancellationRequested = kind { true } else { false } }
}

extension [OperationEvent] {
  /// Returns the invariants that the events of an outermost run and of all runs below it violate.
  func findings(order: Oracle.Order) -> [String] {
    var laws = EventLaws(order: order)
    // A callback operation can be finished again at any time.
    laws.read(filter { !$0.isRepetition })
    return laws.findings + PlaceLaws.findings(in: self)
  }

  /// The paths of the runs that have begun, in alphabetical order.
  var pathsOfBegun: [String] { filter(\.isStart).map { "\($0.path)" }.sorted() }

  /// The runs that have been created and have not ended.
  var living: Set<OperationID> {
    Set(filter(\.isCreation).map(\.id)).subtracting(filter(\.isEnd).map(\.id))
  }
}
