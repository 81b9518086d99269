internal import CompositeOperations
internal import Foundation

/// One claim of a run in this process: what all of its steps share.
final class RunSession: Sendable {
  let token: ClaimToken
  let backend: any RunBackend
  /// The place of the run in its worker; nil if no worker runs it.
  let place: WorkerPlace?
  /// Opened to cancel the operations of the run in this process.
  let stop = Latch()

  init(_ token: ClaimToken, in backend: any RunBackend, place: WorkerPlace?) {
    self.token = token
    self.backend = backend
    self.place = place
  }

  var run: RunID { token.run }
  var options: RunStoreOptions { backend.options }
  var coder: any RunCoder { options.coder }
  var now: Int64 { backend.now }
}

/// The step of a run that is being performed.
final class StepInProgress: Sendable {
  struct Parking: Sendable {
    let wake: Int64?
    let event: String?
  }

  private struct State: Sendable {
    /// The values that earlier claims and this one have stored, by key.
    var stored: [String: StoredStep]
    /// Whether the journal may contain keys of this step.
    var hasKeys: Bool
    /// The number of child flows that have begun.
    var children = 0
    var parking: Parking?
    var stuckReason: String?
    /// The events that its operations have received.
    var events: Set<String> = []
    /// The first failure of the store, because of which the step cannot finish.
    var failure: (any Error)?
  }

  let session: RunSession
  let position: Int
  let name: String
  /// The name in keys, idempotency keys and names of child flows, which stays if the type gets another name.
  let permanentName: String
  /// Whether the operation of the step only waits, so that the step may end meanwhile.
  let canPark: Bool
  private let state: Lock<State>

  /// - Parameter stored: What earlier claims have stored. It counts only for a step with the same
  ///   name: the sequence may decide otherwise after a crash.
  init(
    _ position: Int, named name: String, of session: RunSession, canPark: Bool,
    stored: [StoredStep]
  ) {
    self.session = session
    self.position = position
    self.name = name
    self.canPark = canPark
    let own = stored.filter {
      $0.position == position && session.options.isStep($0.name, named: name)
    }
    // That under which it has stored something.
    permanentName = own.first?.name ?? session.options.permanentName(ofStep: name)
    state = Lock(
      State(
        stored: Dictionary(own.map { ($0.key, $0) }, uniquingKeysWith: { $1 }),
        hasKeys: !own.isEmpty))
  }

  // MARK: Keys

  func stored(_ key: String) -> StoredStep? { state.withLock { $0.stored[key] } }

  /// Stores a value under a key.
  ///
  /// - Throws: A ``DurableStepError``, a ``RunStoreError``, or a ``DurableRunError``.
  func store(
    _ key: String, _ kind: RunDetails.Kind, _ value: String?, attempts: Int = 1, began: Int64
  ) async throws {
    try checkSize(of: value)
    let row = row(key, kind, value, attempts: attempts, began: began)
    noteKeys()
    try await request { try await session.backend.store(key: row, by: session.token) }
    if kind == .result { session.place?.slot.progressed() }
    remember(row)
  }

  /// The row of a value under a key.
  func row(
    _ key: String, _ kind: RunDetails.Kind, _ value: String?, attempts: Int = 1, began: Int64
  ) -> StoredStep {
    StoredStep(
      position: position, key: key, name: permanentName, kind: kind, value: value,
      attempts: attempts,
      fence: session.token.fence, began: began, ended: session.now)
  }

  /// Remembers the row of a key that the journal has stored.
  func remember(_ row: StoredStep) { state.withLock { $0.stored[row.key] = row } }

  /// Notes that the journal may contain keys. Before a write, which the end of the step may overtake.
  func noteKeys() { state.withLock { $0.hasKeys = true } }

  var hasKeys: Bool { state.withLock(\.hasKeys) }

  /// The number of attempts that have begun, as far as they are counted on the disk.
  var attempts: Int {
    let key = JournalKey(reserved: "retry").text
    return state.withLock { $0.stored[key]?.attempts ?? 1 }
  }

  /// The number of child flows that have begun, with one more.
  func nextChild() -> Int {
    state.withLock { state in
      state.children += 1
      return state.children
    }
  }

  /// Notes that an operation has received an event.
  func received(_ event: String) { _ = state.withLock { $0.events.insert(event) } }

  var events: [String] { state.withLock { $0.events.sorted() } }

  func checkSize(of value: String?) throws {
    let (size, limit) = (value?.utf8.count ?? 0, session.options.valueLimit)
    guard size > limit else { return }
    throw error(.tooLarge(size: size, limit: limit))
  }

  // MARK: Ends without an outcome

  var parking: Parking? { state.withLock(\.parking) }
  var stuckReason: String? { state.withLock(\.stuckReason) }
  var failure: (any Error)? { state.withLock(\.failure) }

  /// Performs a request of the store for the step. If the store fails, or the claim is not valid any
  /// more, the step is cancelled and ends without an outcome, whatever its operation makes of the
  /// error.
  ///
  /// - Throws: The error of the request.
  func request<Value>(
    _ body: nonisolated(nonsending) () async throws -> Value
  ) async throws -> Value {
    do { return try await body() } catch {
      let isFailure =
        switch error {
        case let error as DurableRunError: error.endsClaim && error.run == session.run
        case let error as RunStoreError: error.isOfFile
        default: false
        }
      if isFailure {
        state.withLock { if $0.failure == nil { $0.failure = error } }
        session.stop.open()
      }
      throw error
    }
  }

  /// Ends the step without an outcome, so that the run is parked.
  func park(until wake: Int64?, event: String?) -> any Error {
    state.withLock { $0.parking = Parking(wake: wake, event: event) }
    return StepLeftError()
  }

  /// Ends the step without an outcome, so that the run becomes stuck.
  func markStuck(because reason: String) -> any Error {
    state.withLock { if $0.stuckReason == nil { $0.stuckReason = reason } }
    session.stop.open()
    return DurableRunError(session.run, .stuck(because: reason))
  }
}

/// Ends the run of a step whose durable run waits without it.
struct StepLeftError: CancellationRepresenting {
  var representsCancellation: Bool { true }
}

/// The journal of a step, or of a part of it with a key.
struct RunJournal: StepJournal {
  /// The keys that one attempt has used.
  private final class UsedKeys: Sendable {
    private let keys = Lock<Set<String>>([])
    func insert(_ key: String) -> Bool { keys.withLock { $0.insert(key).inserted } }
  }

  let step: StepInProgress
  /// Empty for the step itself.
  let key: String
  /// The numbers of the attempts of this and outer retries and hedges; empty outside. A number
  /// follows an at sign, and the number of a hedge also an `h`.
  private let attempts: String
  /// Whether a wait may park the run: it would interrupt nothing else.
  let canPark: Bool
  /// Stores the result of a ``CommittingOperation``; nil if that is not all that this journal stores.
  let committing: (any CommittingRecorder)?
  private let used: UsedKeys

  init(of step: StepInProgress, committing recorder: (any CommittingRecorder)?) {
    self.init(step, key: "", attempts: "", canPark: step.canPark, committing: recorder)
  }

  private init(
    _ step: StepInProgress, key: String, attempts: String, canPark: Bool,
    committing recorder: (any CommittingRecorder)? = nil, used: UsedKeys = UsedKeys()
  ) {
    self.step = step
    self.key = key
    self.attempts = attempts
    self.canPark = canPark
    committing = recorder
    self.used = used
  }

  var session: RunSession { step.session }

  var idempotencyKey: String { "\(JournalKey.escaped(session.run.text))/\(path)" }

  /// The name of a child flow without a name of its own.
  var childName: RunID { RunID(shortening: "\(session.run.text)/\(path)") }

  /// The step and the keys below it.
  private var path: String {
    let base = "\(step.position).\(JournalKey.escaped(step.permanentName))"
    return key.isEmpty ? base : "\(base)/\(key)"
  }

  var fencingToken: Int { session.token.fence }

  func forAttempt(_ number: Int) -> any StepJournal { forAttempt(number, canPark: canPark) }

  func forConcurrentAttempt(_ number: Int) -> any StepJournal {
    // Also for the first attempt: the second attempt of a `retrying` in it must differ from the
    // first one in the second attempt of the hedge, which runs at the same time. The keys of the
    // first attempt must not be used beside the hedge.
    let used = number == 1 ? used : UsedKeys()
    return RunJournal(
      step, key: key, attempts: "\(attempts)@h\(number)", canPark: canPark, used: used)
  }

  func forAttempt(_ number: Int, canPark: Bool) -> RunJournal {
    RunJournal(step, key: key, attempts: "\(attempts)@\(number)", canPark: canPark)
  }

  /// The journal of this part if it is a ``CommittingOperation``.
  func committing(by recorder: any CommittingRecorder) -> RunJournal {
    RunJournal(step, key: key, attempts: attempts, canPark: canPark, committing: recorder)
  }

  /// The journal of a part, whose key no other part of this attempt may use.
  ///
  /// - Throws: A ``DurableStepError``.
  func part(_ name: JournalKey) throws -> RunJournal {
    // Each attempt has waits and retries of its own, but the results of all attempts are shared.
    let own = name.isReserved ? name.text + attempts : name.text
    let key = key.isEmpty ? own : "\(key)/\(own)"
    if name.text.isEmpty || !used.insert(name.text) {
      throw step.error(name.text.isEmpty ? .emptyKey : .repeatedKey(key: key))
    }
    return RunJournal(step, key: key, attempts: attempts, canPark: canPark)
  }

  /// A journal whose waits stay in memory.
  var withoutParking: RunJournal {
    RunJournal(step, key: key, attempts: attempts, canPark: false)
  }

  // MARK: This part

  var stored: StoredStep? { step.stored(key) }

  func store(
    _ kind: RunDetails.Kind, _ value: String?, attempts: Int = 1, began: Int64
  ) async throws {
    try await step.store(key, kind, value, attempts: attempts, began: began)
  }
}

/// A key of a part of a step.
package struct JournalKey: Sendable {
  /// The key as it is stored.
  package let text: String

  var isReserved: Bool { text.hasPrefix("@") }

  /// The key that a user gives.
  init(_ text: String) { self.text = Self.escaped(text) }

  /// A key of this module, which no key of a user equals.
  init(reserved name: String, _ detail: String = "") {
    text = "@\(name)" + (detail.isEmpty ? "" : ":\(Self.escaped(detail))")
  }

  /// The text with percent escapes for slashes, signs of this module, and control characters.
  package static func escaped(_ text: String) -> String {
    let isClean = text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F && !"/%@".utf8.contains($0) }
    if isClean { return text }
    var escaped = ""
    for scalar in text.unicodeScalars {
      if scalar.properties.generalCategory == .control || "/%@".unicodeScalars.contains(scalar) {
        for byte in String(scalar).utf8 {
          let digits = String(byte, radix: 16, uppercase: true)
          escaped += digits.count == 1 ? "%0\(digits)" : "%\(digits)"
        }
      } else {
        escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }
}
