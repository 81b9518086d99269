import CompositeOperations
import Testing

/// Simulates operations with nested permits on the state machine of the ledger. Operations that
/// hold their permits proceed in round-robin order.
struct PermitWorld {
  /// The permits that an operation takes, the outermost first.
  typealias Levels = [[PermitClaim]]

  private struct Operation {
    let levels: Levels
    var holds: [PermitHold] = []
    /// The request that waits, if there is one.
    var request: PermitLedger.Request?
  }

  private var machine = PermitLedger.StateMachine()
  private var operations: [Operation]
  private var indices: [ObjectIdentifier: Int] = [:]
  private var running = ArraySlice<Int>()
  private(set) var doneCount = 0
  private(set) var refusedCount = 0

  init(_ operations: [Levels]) { self.operations = operations.map { Operation(levels: $0) } }

  var stepCount: Int { machine.stepCount }

  mutating func run() {
    running = Array(operations.indices)[...]
    while let index = running.popFirst() { goOn(index) }
  }

  private mutating func goOn(_ index: Int) {
    let operation = operations[index]
    if operation.holds.count == operation.levels.count {
      doneCount += 1
      return end(index)
    }
    let claims = operation.levels[operation.holds.count]
    if PermitClaim.tryToTake(claims) { return took(index) }
    let request = PermitLedger.Request(claims, below: operation.holds.last)
    indices[ObjectIdentifier(request)] = index
    operations[index].request = request
    handle(machine.asked(request))
  }

  private mutating func took(_ index: Int) {
    let claims = operations[index].levels[operations[index].holds.count]
    let hold = PermitHold(claims, below: operations[index].holds.last)
    operations[index].holds.append(hold)
    running.append(index)
  }

  private mutating func end(_ index: Int) {
    for hold in operations[index].holds.reversed() {
      if hold.markEnded() { handle(machine.ended(hold)) }
      for claim in hold.claims where !claim.permits.tryToGiveBack(claim.number) {
        handle(machine.gaveBack(claim))
      }
    }
    operations[index].holds = []
  }

  private mutating func handle(_ first: PermitLedger.Effects) {
    var effects = first
    while true {
      for answered in effects.answered {
        guard let index = indices.removeValue(forKey: ObjectIdentifier(answered.request))
        else { preconditionFailure("A request was answered twice.") }
        operations[index].request = nil
        if case .taken = answered.answer {
          took(index)
        } else {
          refusedCount += 1
          end(index)
        }
      }
      guard effects.isIncomplete else { return }
      effects = machine.continueAdmitting()
    }
  }
}

/// Many operations that wait below permits.
struct PermitScenario: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let operations: @Sendable (_ count: Int) -> [PermitWorld.Levels]
  var mayBeRefused = false

  private static func one(_ permits: Permits) -> [PermitClaim] {
    [PermitClaim(permits: permits, number: 1)]
  }

  private static func all(_ permits: Permits...) -> [PermitClaim] {
    permits.map { PermitClaim(permits: $0, number: $0.count) }
  }

  static let all = [
    PermitScenario(testDescription: "a database inside 100 connections") { count in
      let (connections, database) = (Permits(100), Permits(1))
      return (0..<count).map { _ in [one(connections), one(database)] }
    },
    PermitScenario(testDescription: "a database inside as many connections as wanted") { count in
      let (connections, database) = (Permits(count), Permits(1))
      return (0..<count).map { _ in [one(connections), one(database)] }
    },
    PermitScenario(testDescription: "three levels, and others that take the inner one alone") {
      count in
      let (connections, database, file) = (Permits(100), Permits(2), Permits(1))
      return (0..<count).map { index in
        let inner = [one(connections), one(database), one(file)]
        return Array(inner.dropFirst(index % 3))
      }
    },
    PermitScenario(testDescription: "three levels below a lock of two") { count in
      let (connections, database, file) = (Permits(100), Permits(2), Permits(1))
      let locks = (0..<count).map { _ in Permits(1) }
      return (0..<count).map { index in
        [one(locks[index / 2]), one(connections), one(database), one(file)]
      }
    },
    PermitScenario(testDescription: "connections and a database taken together") { count in
      let (connections, database) = (Permits(100), Permits(1))
      let locks = (0..<count).map { _ in Permits(1) }
      return (0..<count).map { index in
        [one(locks[index / 2]), one(connections) + one(database)]
      }
    },
    PermitScenario(
      testDescription: "two locks in opposite orders",
      operations: { count in
        let (left, right) = (Permits(1), Permits(1))
        return (0..<count).map { index in
          index % 2 == 0 ? [one(left), one(right)] : [one(right), one(left)]
        }
      }, mayBeRefused: true),
    PermitScenario(testDescription: "two locks within one another and together") { count in
      let (left, right) = (Permits(1), Permits(1))
      return (0..<count).map { index in
        index % 2 == 0 ? [one(left), one(right)] : [all(left, right)]
      }
    },
  ]
}
