public import CompositeOperations
internal import Foundation
internal import SystemSupport

/// A monitor of the network that connects to a host repeatedly until it answers.
///
/// ```swift
/// import HTTPOperations
///
/// let probe = HostProbe(host: "example.com", port: 443, timeout: .seconds(2))
/// let data = HTTPDataOperation(url).requiring(.connectivity(probe))
/// ```
///
/// A probe makes a TCP connection and closes it; nothing is sent. All addresses of the host are
/// tried concurrently. Choose the host that your requests go to. Each run probes for itself and
/// does not use the results of other runs. Between two probes it waits by the clock of the run.
public struct HostProbe: ConnectivityMonitor {
  private let host: String
  private let port: UInt16
  private let timeout: Duration
  private let backoff: Backoff

  /// Creates a monitor that probes a host.
  ///
  /// - Parameters:
  ///   - host: A host name or an address.
  ///   - port: The TCP port.
  ///   - timeout: The maximum duration of a probe, by the clock of the system. The lookup of the
  ///     name takes additional time.
  ///   - backoff: The delays after probes that failed.
  /// - Precondition: `timeout` is positive.
  public init(
    host: String, port: UInt16, timeout: Duration = .seconds(3),
    backoff: Backoff = .exponential(from: .seconds(1)).capped(at: .seconds(30)).jittered()
  ) {
    precondition(timeout > .zero, "`timeout` must be positive (was \(timeout))")
    self.host = host
    self.port = port
    self.timeout = timeout
    self.backoff = backoff
  }

  /// Waits until the host accepts a connection.
  ///
  /// - Throws: `CancellationError` as soon as the task is cancelled.
  public nonisolated(nonsending) func waitForConnectivity(
    in context: OperationContext
  ) async throws {
    let probe = ProbeHost(host: host, port: port, timeout: timeout)
    // Waits between probes as a retry does, here without a limit.
    try await context.run(probe.retrying(attempts: .max, backoff: backoff))
  }
}

/// Probes a host once.
struct ProbeHost: ComposableOperation {
  let host: String
  let port: UInt16
  let timeout: Duration

  var operationName: String { "probe \(host):\(port)" }

  func perform(in context: OperationContext) async throws {
    let (host, port, timeout) = (host, port, timeout)
    // A lookup of a name cannot be cancelled. Its thread is left to finish, and nothing waits for
    // it.
    let waiter = SingleWaiter()
    let found = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        waiter.wait(continuation)
        DispatchQueue.global().async {
          let addresses = Reachability.addresses(of: host, port: port)
          waiter.resume(Reachability.canConnect(toAnyOf: addresses, within: timeout))
        }
      }
    } onCancel: {
      waiter.resume(false)
    }
    try Task.checkCancellation()
    if !found { throw HostNotReachedError(host: host, port: port) }
  }
}

/// The error of a probe that failed. It is visible only in events.
struct HostNotReachedError: Error, CustomStringConvertible {
  let host: String
  let port: UInt16
  var description: String { "cannot connect to \(host):\(port)" }
}

/// A waiter for the first of several answers. Later answers are dropped.
private final class SingleWaiter: Sendable {
  private enum State: Sendable {
    case new
    case waiting(CheckedContinuation<Bool, Never>)
    case answered(Bool)
  }

  private let state = Lock(State.new)

  func wait(_ continuation: CheckedContinuation<Bool, Never>) {
    let answer = state.withLock { state -> Bool? in
      if case .answered(let answer) = state { return answer }
      state = .waiting(continuation)
      return nil
    }
    if let answer { continuation.resume(returning: answer) }
  }

  func resume(_ answer: Bool) {
    let waiter = state.withLock { state -> CheckedContinuation<Bool, Never>? in
      let waiter: CheckedContinuation<Bool, Never>? =
        if case .waiting(let waiter) = state { waiter } else { nil }
      if case .answered = state { return nil }
      state = .answered(answer)
      return waiter
    }
    waiter?.resume(returning: answer)
  }
}
