/// The rules of requests for permits without any index: every answer examines all requests and
/// holds.
struct PermitOracle {
  typealias Turn = UInt64

  struct Claim: Equatable {
    let kind: Int
    let number: Int
  }

  struct Hold {
    let claims: [Claim]
    let parent: Int?
    var hasEnded = false
  }

  struct Request {
    let claims: [Claim]
    let hold: Int?
    let turn: Turn
    /// For each claim, the turn of the first request that it may pass.
    var passesFrom: [Turn]
    /// The turn of the last request that may pass it where both may pass others.
    var letsPass: Turn = 0

    var mayPassOthers: Bool { passesFrom.contains { $0 < turn } }

    /// Whether it has let requests up to a turn pass before.
    func lets(_ turn: Turn) -> Bool { mayPassOthers && letsPass >= turn }

    func mayPassOthers(in kind: Int) -> Bool {
      zip(claims, passesFrom).contains { $0.kind == kind && $1 < turn }
    }
  }

  let counts: [Int]
  var left: [Int]
  var holds: [Hold] = []
  var waiting: [Int: Request] = [:]
  private var lastTurn: Turn = 0

  init(counts: [Int]) {
    self.counts = counts
    left = counts
  }

  // MARK: Events

  mutating func asks(_ id: Int, for claims: [Claim], below hold: Int?) {
    lastTurn += 1
    waiting[id] = Request(
      claims: claims, hold: hold, turn: lastTurn, passesFrom: claims.map { _ in lastTurn })
  }

  mutating func take(_ claims: [Claim], below hold: Int?) {
    for claim in claims { left[claim.kind] -= claim.number }
    holds.append(Hold(claims: claims, parent: hold))
  }

  // MARK: Questions

  /// Returns the holds above a request or a hold, up to the first ended hold.
  func chain(from hold: Int?) -> [Int] {
    var chain: [Int] = []
    var next = hold
    while let index = next, !holds[index].hasEnded {
      chain.append(index)
      next = holds[index].parent
    }
    return chain
  }

  /// Whether no request waits for the permits, and they suffice.
  func isFree(_ claims: [Claim]) -> Bool {
    claims.allSatisfy { claim in
      left[claim.kind] >= claim.number
        && !waiting.values.contains { $0.claims.contains { $0.kind == claim.kind } }
    }
  }

  /// The waiting requests in front of a request that it may not pass.
  func inFront(of id: Int, among requests: [Int: Request]) -> [Int] {
    guard let request = waiting[id] else { return [] }
    return requests.keys.filter { other in
      guard let front = requests[other], front.turn < request.turn else { return false }
      return zip(request.claims, request.passesFrom).contains { claim, passesFrom in
        let isLenient = !front.mayPassOthers(in: claim.kind) || front.letsPass >= request.turn
        return front.claims.contains { $0.kind == claim.kind }
          && (front.turn < passesFrom || !isLenient)
      }
    }
  }

  func mayBeAdmitted(_ id: Int) -> Bool {
    waiting[id]?.claims.allSatisfy { left[$0.kind] >= $0.number } == true
      && inFront(of: id, among: waiting).isEmpty
  }

  /// The requests that will never be admitted, even if all runs that do not wait end. Simulates
  /// admissions until nothing changes any more.
  ///
  /// - Parameter isOrderKept: Whether the order counts. If not, requests below no hold block no
  ///   others.
  func stuck(isOrderKept: Bool) -> Set<Int> {
    var rest = waiting
    if !isOrderKept { rest = rest.filter { !chain(from: $0.value.hold).isEmpty } }
    var isChanged = true
    while isChanged {
      isChanged = false
      for id in rest.keys.sorted() where canEnd(id, among: rest, isOrderKept) {
        rest[id] = nil
        isChanged = true
      }
    }
    return Set(rest.keys)
  }

  private func canEnd(_ id: Int, among requests: [Int: Request], _ isOrderKept: Bool) -> Bool {
    guard let request = requests[id] else { return false }
    let blocked = Set(requests.values.flatMap { chain(from: $0.hold) })
    let suffices = request.claims.allSatisfy { claim in
      let held = blocked.flatMap { holds[$0].claims }.filter { $0.kind == claim.kind }
      return held.reduce(claim.number) { $0 + $1.number } <= counts[claim.kind]
    }
    return suffices && (!isOrderKept || inFront(of: id, among: requests).isEmpty)
  }
}
