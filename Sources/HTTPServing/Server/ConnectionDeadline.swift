/// The time until which a connection must make progress.
struct ConnectionDeadline: Sendable, Hashable {
  /// All deadlines of a kind have the same duration. So a new one is never earlier than an older
  /// one, and a task that sleeps until the first one need not be woken by others.
  enum Kind: Sendable, CaseIterable { case request, idle, response }

  let kind: Kind
  let instant: ContinuousClock.Instant

  init(_ kind: Kind, after now: ContinuousClock.Instant, limits: ServerLimits) {
    self.kind = kind
    instant =
      switch kind {
      case .request: now + limits.requestTime
      case .idle: now + limits.idleTime + limits.requestTime
      case .response: now + limits.responseTime
      }
  }
}
