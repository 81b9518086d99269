public import CompositeOperations
internal import Foundation

/// Finds out whether there is a network by connecting to a host, again and again until it answers.
///
/// ```swift
/// import CompositeOperationsFoundation
///
/// let probe = HostProbe(host: "example.com", port: 443, timeout: .seconds(2))
/// let data = HTTPDataOperation(url).requiring(.connectivity(probe))
/// ```
///
/// A TCP connection is made and closed; nothing is sent. All addresses of the host are tried side by side.
/// Choose the host that is going to be asked. Each run looks for itself, so nobody goes by what somebody else
/// saw. Between two looks it waits by the clock of the run.
public struct HostProbe: ConnectivityMonitor {
  private let host: String
  private let port: UInt16
  private let timeout: Duration
  private let backoff: Backoff

  /// - Parameters:
  ///   - host: A name or an address.
  ///   - port: The port that is connected to.
  ///   - timeout: How long a look may take, by the clock of the system; looking up the name comes on top.
  ///   - backoff: How long to wait after each look that found nothing.
  /// - Precondition: The timeout is above zero.
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

  public nonisolated(nonsending) func waitForConnectivity(
    in context: OperationContext
  ) async throws {
    let look = LookForHost(host: host, port: port, timeout: timeout)
    // Between looks it waits as a retry does, which has no end here.
    try await context.run(look.retrying(attempts: .max, backoff: backoff))
  }
}

/// Connects to a host once.
struct LookForHost: ComposableOperation {
  let host: String
  let port: UInt16
  let timeout: Duration

  var operationName: String { "look for \(host):\(port)" }

  func perform(in context: OperationContext) async throws {
    let (host, port, timeout) = (host, port, timeout)
    // A thread that looks up a name cannot be called back: it is left to its end, which nobody waits for.
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

/// The error of a look that found nothing. It is seen in events only.
struct HostNotReachedError: Error, CustomStringConvertible {
  let host: String
  let port: UInt16
  var description: String { "cannot connect to \(host):\(port)" }
}
