import CompositeOperations

/// Random requests for permits to the state machine of the ledger, compared with the oracle after
/// every event.
struct PermitCase {
  /// How often each result has occurred in some cases.
  struct Counts {
    var admitted = 0
    var refused = 0
    var passing = 0
  }

  let seed: UInt64
  private(set) var findings: [String] = []
  private(set) var counts = Counts()

  private var chance: Chance
  private var machine = PermitLedger.StateMachine()
  private var oracle: PermitOracle
  private let permits: [Permits]
  /// In the order of the oracle's.
  private var holds: [PermitHold] = []
  private var requests: [PermitLedger.Request] = []
  /// The requests that were stuck before some were let pass others by the last event.
  private var stuckBeforeChange: Set<Int>?
  private var log: [String] = []

  init(seed: UInt64) {
    self.seed = seed
    var chance = Chance(seed: seed)
    let counts = (0..<chance.number(2...5)).map { _ in chance.number(1...4) }
    permits = counts.map { Permits($0) }
    oracle = PermitOracle(counts: counts)
    self.chance = chance
  }

  mutating func run(events: Int) {
    for _ in 0..<events {
      switch chance.number(1...100) {
      case ...60: ask()
      case ...90: endOne()
      default: cancelOne()
      }
      check()
      if !findings.isEmpty { return }
    }
    for id in oracle.waiting.keys.sorted() { cancel(id) }
    for index in holds.indices.reversed() where !oracle.holds[index].hasEnded { end(index) }
    for (permits, count) in zip(permits, oracle.counts) {
      expect(permits.countedByItself == count, "not all permits have been released")
    }
  }

  private mutating func expect(_ isRight: Bool, _ finding: @autoclosure () -> String) {
    if !isRight {
      findings.append("seed \(seed): \(finding())\n\(log.joined(separator: "\n"))")
    }
  }

  // MARK: Events

  private mutating func ask() {
    let live = holds.indices.filter { !oracle.holds[$0].hasEnded || chance.percent(2) }
    let hold: Int? =
      live.isEmpty || chance.percent(30) ? nil : live[chance.number(0...live.count - 1)]
    var kinds = Set([chance.number(0...permits.count - 1)])
    if chance.percent(30) { kinds.insert(chance.number(0...permits.count - 1)) }
    let claims = kinds.sorted().map { kind in
      let count = oracle.counts[kind]
      return PermitOracle.Claim(
        kind: kind, number: chance.percent(40) ? count : chance.number(1...count))
    }
    let isFree = oracle.isFree(claims)
    let taken = PermitClaim.tryToTake(claims.map(claim))
    expect(taken == isFree, "\(claims) are free: \(isFree), and taken: \(taken)")
    if taken {
      took(claims, below: hold, "at once")
      return
    }
    let id = requests.count
    log.append("\(id) asks for \(claims) below \(String(describing: hold))")
    let request = PermitLedger.Request(claims.map(claim), below: hold.map { holds[$0] })
    requests.append(request)
    oracle.asks(id, for: claims, below: hold)
    handle(machine.asked(request), asker: id)
  }

  private func claim(_ claim: PermitOracle.Claim) -> PermitClaim {
    PermitClaim(permits: permits[claim.kind], number: claim.number)
  }

  private mutating func took(_ claims: [PermitOracle.Claim], below hold: Int?, _ how: String) {
    log.append("hold \(holds.count) of \(claims) below \(String(describing: hold)), \(how)")
    oracle.take(claims, below: hold)
    holds.append(PermitHold(claims.map(claim), below: hold.map { holds[$0] }))
  }

  /// Ends a hold with nothing below it or, rarely, any hold, as if its context had outlived its
  /// run.
  private mutating func endOne() {
    let inUse = Set(
      oracle.waiting.values.compactMap(\.hold)
        + oracle.holds.filter { !$0.hasEnded }.compactMap(\.parent))
    let isContextKept = chance.percent(5)
    let candidates = holds.indices.filter {
      !oracle.holds[$0].hasEnded && (isContextKept || !inUse.contains($0))
    }
    if !candidates.isEmpty { end(candidates[chance.number(0...candidates.count - 1)]) }
  }

  private mutating func end(_ index: Int) {
    log.append("hold \(index) ends")
    oracle.holds[index].hasEnded = true
    if holds[index].markEnded() { handle(machine.ended(holds[index])) }
    for claim in oracle.holds[index].claims {
      oracle.left[claim.kind] += claim.number
      let returned = self.claim(claim)
      if !returned.permits.tryToGiveBack(claim.number) { handle(machine.gaveBack(returned)) }
    }
  }

  private mutating func cancelOne() {
    let waiting = oracle.waiting.keys.sorted()
    if !waiting.isEmpty { cancel(waiting[chance.number(0...waiting.count - 1)]) }
  }

  private mutating func cancel(_ id: Int) {
    log.append("\(id) is cancelled")
    handle(machine.cancelled(requests[id]))
    expect(oracle.waiting[id] == nil, "\(id) is cancelled and waits")
  }

  // MARK: Answers

  private mutating func handle(_ first: PermitLedger.Effects, asker: Int? = nil) {
    var effects = first
    stuckBeforeChange = nil
    while true {
      for answered in effects.answered {
        guard let id = requests.firstIndex(where: { $0 === answered.request }),
          let request = oracle.waiting[id]
        else {
          expect(false, "a request that did not wait was answered")
          return
        }
        log.append("\(id) is \(answered.answer)")
        switch answered.answer {
        case .taken: admitted(id, request, asker)
        case .cancelled: oracle.waiting[id] = nil
        case .refused:
          counts.refused += 1
          expect(id == asker, "\(id) is refused, which asked before")
          expect(
            oracle.stuck(isOrderKept: false).contains(id), "\(id) is refused, and no deadlock")
          oracle.waiting[id] = nil
        }
      }
      guard effects.isIncomplete else { break }
      effects = machine.continueAdmitting()
    }
    learnPassages(asker)
  }

  private mutating func admitted(_ id: Int, _ request: PermitOracle.Request, _ asker: Int?) {
    counts.admitted += 1
    if !oracle.mayBeAdmitted(id) { learnPassages(asker) }
    if !oracle.mayBeAdmitted(id) { expect(passes(id, asker), "\(id) is admitted too early") }
    oracle.waiting[id] = nil
    took(request.claims, below: request.hold, "as \(id)")
  }

  /// Whether a request that was let pass and admitted at once may pass those in front of it.
  private mutating func passes(_ id: Int, _ asker: Int?) -> Bool {
    counts.passing += 1
    let stuck = stuckBeforeChange ?? []
    guard let asker, stuck.contains(asker), let request = oracle.waiting[id] else { return false }
    return !oracle.chain(from: request.hold).isEmpty
      && request.claims.allSatisfy { oracle.left[$0.kind] >= $0.number }
      && oracle.inFront(of: id, among: oracle.waiting).allSatisfy { other in
        stuck.contains(other) || oracle.waiting[other]?.lets(request.turn) == true
      }
  }

  /// Copies which requests may pass others to the oracle. Only requests that are stuck in a cycle
  /// with the new request get new passages, and only past such requests.
  private mutating func learnPassages(_ asker: Int?) {
    let stuck = stuckBeforeChange ?? oracle.stuck(isOrderKept: true)
    stuckBeforeChange = stuck
    let before = inFront
    let waiting = oracle.waiting
    for id in oracle.waiting.keys where requests[id].isWaiting {
      oracle.waiting[id]?.passesFrom = requests[id].passesFrom
      oracle.waiting[id]?.letsPass = requests[id].letsPass
    }
    for (id, after) in inFront {
      let passed = (before[id] ?? []).subtracting(after)
      expect(after.isSubset(of: before[id] ?? []), "\(id) may pass fewer than before")
      if passed.isEmpty { continue }
      counts.passing += 1
      expect(
        asker.map(stuck.contains) == true && stuck.contains(id)
          && (waiting[id]?.mayPassOthers == true
            || !oracle.chain(from: oracle.waiting[id]?.hold).isEmpty),
        "\(id) may pass others, and need not")
      let turn = oracle.waiting[id]?.turn ?? 0
      let others = passed.subtracting(stuck).filter { waiting[$0]?.lets(turn) != true }
      expect(others.isEmpty, "\(id) may pass \(others), which are not in the cycle")
    }
  }

  private var inFront: [Int: Set<Int>] {
    let waiting = oracle.waiting
    return Dictionary(
      uniqueKeysWithValues: waiting.keys.map { ($0, Set(oracle.inFront(of: $0, among: waiting))) })
  }

  // MARK: After every event

  private mutating func check() {
    let early = oracle.waiting.keys.filter { oracle.mayBeAdmitted($0) }
    expect(early.isEmpty, "\(early) could be admitted, and wait")
    let stuck = oracle.stuck(isOrderKept: true)
    expect(stuck.isEmpty, "\(stuck) wait forever")
    for (kind, permits) in permits.enumerated() {
      let count = oracle.waiting.values.count { $0.claims.contains { $0.kind == kind } }
      expect(machine.waitingCount(for: permits) == count, "\(count) wait for kind \(kind)")
    }
  }
}
