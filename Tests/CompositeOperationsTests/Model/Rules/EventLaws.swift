import CompositeOperations

/// Checks the events of any run: the order of the events of a run, and of a run and its children.
/// The events must contain the outcomes that the rules require.
struct EventLaws {
  let order: Oracle.Order
  private let isChildOfUnobserved: Bool
  private(set) var findings: [String] = []
  private var histories: [OperationID: History] = [:]
  private var ended: [String: [Ended]] = [:]
  /// The number of abandoned bodies that have ended, by the names of their runs.
  private var abandoned: [String: Int] = [:]

  /// The events of one run so far.
  private struct History {
    let name: String
    let parent: OperationID?
    /// Whether it is the run of a condition, which a cancelled run does not wait for.
    let isOfCondition: Bool
    var hasStarted = false
    var wasAskedToCancel = false
    var waitsFor: OperationEvent.Wait?
    var wasWaitingAtItsEnd = false
    var hasAbandonedBody = false
    var ended: Ended?
    /// Children that it has announced.
    var announced: Set<OperationID> = []
    var liveChildren = 0
  }

  private struct Ended: Equatable, CustomStringConvertible {
    let outcome: ShownOutcome
    let late: ShownOutcome?

    var description: String { "\(outcome)" + (late.map { ", late: \($0)" } ?? "") }
  }

  /// - Parameter isChildOfUnobserved: Whether the outermost observed run is the child of a run that
  ///   is not observed.
  init(order: Oracle.Order, isChildOfUnobserved: Bool = false) {
    self.order = order
    self.isChildOfUnobserved = isChildOfUnobserved
  }

  mutating func read(_ events: [OperationEvent]) {
    for event in events { read(event) }
    for (id, history) in histories where order == .total || !history.isOfCondition {
      expect(history.ended != nil, "\(history.name) \(id) never ended")
      expect(history.waitsFor == nil, "\(history.name) \(id) never stopped waiting")
      // An abandoned body can wait longer than its run.
      expect(
        !history.wasWaitingAtItsEnd || history.hasAbandonedBody,
        "\(history.name) \(id) ended while it waited")
    }
  }

  mutating func expect(_ isRight: Bool, _ law: @autoclosure () -> String) {
    if !isRight { findings.append("events: " + law()) }
  }

  // MARK: Events

  private mutating func read(_ event: OperationEvent) {
    if case .created = event.kind { return created(event) }
    guard let history = histories[event.id] else {
      return expect(false, "\(event) before it was created")
    }
    if case .abandonedBodyEnded = event.kind {
      abandoned[event.name, default: 0] += 1
      histories[event.id]?.hasAbandonedBody = true
      return expect(history.hasStarted, "\(event) before its run had started")
    }
    if case .waitingEnded(let wait) = event.kind {
      expect(history.waitsFor == wait, "\(event) although it did not wait for that")
      histories[event.id]?.waitsFor = nil
      return
    }
    expect(history.ended == nil, "\(event) after its end")
    expect(
      history.name == event.name && history.parent == event.parent,
      "\(event) has another name or parent")
    switch event.kind {
    case .created, .waitingEnded, .finishedAgain, .abandonedBodyEnded: break
    case .waitingBegan(let wait):
      expect(history.hasStarted || wait == .place, "\(event) before it started")
      expect(history.waitsFor == nil, "\(event) while it waited already")
      histories[event.id]?.waitsFor = wait
    case .progressed, .childrenExpected, .attributesSet, .logged:
      expect(history.hasStarted, "\(event) before it started")
    case .retryScheduled(let attempt, _, _):
      expect(history.hasStarted && attempt >= 2, "\(event) without an earlier attempt")
    case .started:
      // With several workers the cancellation can be requested after the last check of the run.
      let isAsked = order == .total && history.wasAskedToCancel
      expect(!history.hasStarted && !isAsked, "\(event) twice or after a cancellation")
      histories[event.id]?.hasStarted = true
    case .childStarted(let child):
      expect(history.hasStarted, "\(event) before its body began")
      histories[event.id]?.announced.insert(child)
    case .cancellationRequested:
      expect(!history.wasAskedToCancel, "\(event) twice")
      histories[event.id]?.wasAskedToCancel = true
    case .ended(let outcome, let late):
      ended(event, ShownOutcome(ofAny: outcome), late: late.map { ShownOutcome(ofAny: $0) })
    }
  }

  private mutating func created(_ event: OperationEvent) {
    expect(histories[event.id] == nil, "\(event) twice")
    let parent = event.parent.flatMap { histories[$0] }
    let isOfCondition = parent?.isOfCondition == true || event.name.isOfCondition
    histories[event.id] = History(
      name: event.name, parent: event.parent, isOfCondition: isOfCondition)
    guard let id = event.parent else { return }
    expect(parent?.announced.contains(event.id) == true, "\(event) before it was announced")
    if isOfCondition { return }
    expect(parent?.ended == nil, "\(event) after the end of its parent")
    histories[id]?.liveChildren += 1
  }

  private mutating func ended(
    _ event: OperationEvent, _ outcome: ShownOutcome, late: ShownOutcome?
  ) {
    guard let history = histories[event.id] else { return }
    let end = Ended(outcome: outcome, late: late)
    expect(history.liveChildren == 0, "\(event) before the ends of its children")
    expect(
      history.hasStarted || outcome == .cancelled && history.wasAskedToCancel,
      "\(event) although it never started")
    expect(late == nil || outcome == .cancelled, "\(event) with a late outcome")
    // With several workers the cancellation can arrive after the outcome has been decided.
    let ignoresRequest = history.wasAskedToCancel && outcome != .cancelled
    expect(order == .partial || !ignoresRequest, "\(event) although it was asked to cancel")
    histories[event.id]?.ended = end
    histories[event.id]?.wasWaitingAtItsEnd = history.waitsFor != nil
    if let parent = history.parent, !history.isOfCondition { histories[parent]?.liveChildren -= 1 }
    if history.hasStarted { ended[event.name, default: []].append(end) }
  }

  // MARK: The rules

  /// Checks that the events contain the outcomes that the oracle expects, and the late outcomes.
  mutating func compare(with oracle: Oracle) {
    let places = Dictionary(grouping: oracle.places.values, by: \.name)
    let runs = Dictionary(grouping: oracle.settled, by: \.place.name)
    for (name, places) in places where places.count == 1 && !places[0].isPart {
      compare(ended[name] ?? [], with: runs[name] ?? [], name)
    }
    compareAbandoned(with: oracle)
  }

  /// T3: every abandoned body has an event when it ends, and no other body does.
  private mutating func compareAbandoned(with oracle: Oracle) {
    if order == .partial { return }
    let runs = oracle.abandonableBodies.values.filter { !$0.run.place.isPart }
    for (name, bodies) in Dictionary(grouping: runs, by: \.run.place.name) {
      let reported = abandoned[name, default: 0]
      let least = bodies.count(where: \.isAbandoned)
      let most = least + bodies.count(where: \.mayBeAbandoned)
      expect(
        (least...most).contains(reported),
        "T3: \(reported) abandoned bodies of \(name), expected \(least)")
    }
  }

  private mutating func compare(_ reported: [Ended], with runs: [NodeRun], _ name: String) {
    let expected = runs.map { Ended(outcome: $0.outcome ?? .cancelled, late: $0.lateBody) }
    var reported = reported
    // O2: with several workers a run may be cancelled while its start is reported. Then its body
    // does not begin.
    while order == .partial, reported.count > expected.count,
      let index = reported.lastIndex(of: Ended(outcome: .cancelled, late: nil))
    {
      reported.remove(at: index)
    }
    let isRight =
      reported.count == expected.count
      && zip(zip(reported, expected), runs).allSatisfy { ends, run in
        // With several workers a run can be cancelled just before it ends. The log shows this only
        // if the parent shows the outcome.
        let isCancelledLater = order == .partial && !run.isShown && ends.0.outcome == .cancelled
        // The outermost run, which is not observed, can be cancelled between the ends of both.
        let isOuterCancelled =
          order == .partial && isChildOfUnobserved && run.place.node.id == 0
          && ends.1.outcome == .cancelled
          && ends.0 == Ended(outcome: ends.1.late ?? .cancelled, late: nil)
        return ends.0 == ends.1 || isCancelledLater || isOuterCancelled
      }
    expect(isRight, "\(name) ended as \(reported), expected \(expected)")
  }
}

extension String {
  /// Whether it is the name of a condition of a tree, or of a combination of conditions.
  fileprivate var isOfCondition: Bool {
    ["c", "not c", "all of", "any of"].contains { hasPrefix($0) }
  }
}
