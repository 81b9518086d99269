internal import CompositeOperations
internal import Dispatch
internal import DurableOperations

/// Extends the leases of this process, and looks for changes that other processes make, while
/// something runs or waits for them.
///
/// A claim whose lease could not be extended for two thirds of its length is cancelled in this
/// process, so that its operations end before another worker may begin. A queue of its own decides
/// this, because a connection attempt can block the other one, as in a lookup of a name.
// Unchecked because of its state, which only the serial queue uses.
final class PostgresWatch: @unchecked Sendable {
  private static let shortestInterval = Duration.milliseconds(20)
  private static let longestInterval = Duration.seconds(2)

  private let queue = DispatchQueue(label: "PostgresOperations.watch", qos: .userInitiated)
  private let guardQueue = DispatchQueue(label: "PostgresOperations.leases", qos: .userInitiated)
  private let isGuarding = Lock(false)
  private let statements: AbsurdQueue
  private let held: HeldClaims
  private let changes: RunChanges
  private let lease: Duration
  private let address: String

  private var connection: PostgresConnection?
  private var interval = shortestInterval
  private var next: (item: DispatchWorkItem, time: ContinuousClock.Instant)?
  /// Whether a look was asked for and the queue does not know it yet.
  private let isAskedFor = Lock(false)
  private var isClosed = false
  /// What the last look has found, for each run and each event that something waits for.
  private var found: [String: String] = [:]

  init(
    of statements: AbsurdQueue, at address: String, _ held: HeldClaims, _ changes: RunChanges,
    lease: Duration
  ) {
    self.statements = statements
    self.address = address
    self.held = held
    self.changes = changes
    self.lease = lease
  }

  /// Looks soon, because something has begun to run or to wait.
  func start() {
    guardLeases()
    let isFirst = isAskedFor.withLock { isAskedFor in
      defer { isAskedFor = true }
      return !isAskedFor
    }
    if !isFirst { return }
    queue.async { [weak self] in
      guard let self else { return }
      isAskedFor.withLock { $0 = false }
      if next == nil || changes.isAwaited {
        interval = Self.shortestInterval
        schedule()
      }
    }
  }

  /// Ends the looks, and closes the connection.
  func close() async {
    await withCheckedContinuation { continuation in
      queue.async { [self] in
        isClosed = true
        next?.item.cancel()
        connection = nil
        continuation.resume()
      }
    }
  }

  // MARK: On the queue

  /// Looks after the interval, or when an earlier call has decided, if that is sooner.
  private func schedule() {
    if isClosed { return }
    let time = ContinuousClock.now + interval
    if let next {
      if next.time <= time { return }
      next.item.cancel()
    }
    let item = DispatchWorkItem { [weak self] in self?.look() }
    next = (item, time)
    queue.asyncAfter(deadline: .now() + interval.dispatchInterval, execute: item)
  }

  /// The runs and events that tasks wait for.
  private var awaited: [RunChanges.Topic] { changes.awaited.filter { $0 != .ready } }

  private func look() {
    next = nil
    let (awaited, running) = (awaited, changes.runningRuns)
    if awaited.isEmpty, running.isEmpty, held.all.isEmpty {
      found = [:]
      return
    }
    let time = ContinuousClock.now
    do {
      let connection = try opened()
      try extendLeases(connection)
      let isChanged = try lookForChanges(connection, awaited, running)
      // A look at many runs must not use a large part of the server.
      let shortest = max(Self.shortestInterval, (.now - time) * 10)
      // A sixteenth longer each time, so that a change is noticed after a sixteenth of the wait for it.
      interval = min(
        max(Self.longestInterval, shortest),
        isChanged ? shortest : max(shortest, interval * 17 / 16))
    } catch {
      connection = nil
      interval = min(lease / 10, .milliseconds(500))
    }
    interval = min(interval, lease / 6)
    schedule()
  }

  private func opened() throws -> PostgresConnection {
    if let connection, connection.isUsable { return connection }
    self.connection = nil
    let connection = try PostgresConnection(to: address, timeout: lease / 6)
    self.connection = connection
    return connection
  }

  // MARK: Leases

  /// Looks at the claims until there are none.
  private func guardLeases() {
    let isFirst = isGuarding.withLock { isGuarding in
      defer { isGuarding = true }
      return !isGuarding
    }
    if isFirst { cancelUnreachableLater() }
  }

  private func cancelUnreachableLater() {
    guardQueue.asyncAfter(deadline: .now() + (lease / 30).dispatchInterval) { [weak self] in
      guard let self else { return }
      let (now, claims) = (ContinuousClock.now, held.all)
      for claim in claims where now - claim.extended > lease * 2 / 3 {
        changes.cancelTask(of: claim.token.run)
      }
      if !claims.isEmpty { return cancelUnreachableLater() }
      isGuarding.withLock { $0 = false }
      // A claim may have been added before this.
      if !held.all.isEmpty { guardLeases() }
    }
  }

  private func extendLeases(_ connection: PostgresConnection) throws {
    let seconds = max(1, lease.components.seconds)
    for claim in held.all {
      let time = ContinuousClock.now
      if time - claim.extended < lease / 3 { continue }
      do {
        let rows = try connection.rows(
          statements.claims.extend,
          [
            .text(statements.name), .text(claim.attemptID), .text(claim.worker),
            .integer(seconds),
          ])
        if rows.integer(0, 0) == 1 { held.extended(claim, at: time) } else { lost(claim) }
      } catch {
        // The engine refuses it if the run was cancelled or taken over.
        if error.kind != .refused { throw error }
        if error.code.hasPrefix("AB00") { lost(claim) }
      }
    }
  }

  /// Forgets a claim that is not valid any more, such as the one of a cancelled run.
  private func lost(_ claim: HeldClaim) {
    held.remove(claim)
    if changes.runningRuns.contains(claim.token.run) { changes.cancelTask(of: claim.token.run) }
  }

  // MARK: Changes

  /// - Returns: Whether something has changed.
  private func lookForChanges(
    _ connection: PostgresConnection, _ awaited: [RunChanges.Topic], _ running: [RunID]
  ) throws -> Bool {
    var topics: [String: [RunChanges.Topic]] = [:]
    var events: [String] = []
    var runs = Set(running.map(\.text))
    for topic in awaited {
      switch topic {
      case .ready: break
      case .run(let id):
        topics[id.text, default: []].append(topic)
        runs.insert(id.text)
      case .event(let id, let name):
        let event = AbsurdName.event(name, of: id)
        // The name of an event contains the name of its run, so it equals no name of a run that
        // something waits for.
        topics["event " + event, default: []].append(topic)
        events.append(event)
      }
    }
    let rows = try connection.rows(
      statements.reads.changes, [.texts(Array(runs)), .texts(events)])
    var now: [String: String] = [:]
    for row in 0..<rows.count {
      let name = rows.text(row, 0) ?? ""
      now[rows.boolean(row, 2) == true ? "event " + name : name] = rows.text(row, 1) ?? ""
    }
    for id in running where now[id.text]?.hasPrefix("cancelled") ?? true {
      changes.cancelTask(of: id)
    }
    // Something that is new was perhaps looked at before it changed.
    let changed = topics.filter { name, _ in found[name] == nil || found[name] != now[name] }
    found = now.merging(topics.mapValues { _ in "missing" }) { found, _ in found }
    changes.notify(changed.values.flatMap(\.self))
    return !changed.isEmpty
  }
}

extension Duration {
  var dispatchInterval: DispatchTimeInterval { .nanoseconds(Int(self / .nanoseconds(1))) }
}
