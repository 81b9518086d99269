import CompositeOperations
import CompositeOperationsTestKit
import Foundation
import HTTPOperations
import LoopbackServer
import SystemSupport
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct ConnectivityTests {
  @Test func `an operation waits for the network, and observers see the wait`()
    async throws
  {
    let status = ConnectivityStatus(isConnected: false)
    let observer = WaitObserver()
    let run = SimpleOperation { 42 }.requiring(.connectivity(status))
      .observed(by: observer).start()
    await observer.waitForWaits(1)
    #expect(observer.names == [["there is a network"]])
    status.update(isConnected: true)
    #expect(await run.outcome.result == 42)
    #expect(status.isConnected)
  }

  @Test func `an operation does not wait if there is a network`() async throws {
    let status = ConnectivityStatus(isConnected: true)
    #expect(await SimpleOperation { 42 }.requiring(.connectivity(status)).run().result == 42)
  }

  @Test func `every operation is checked against the current status`() async throws {
    let status = ConnectivityStatus(isConnected: false)
    let observer = WaitObserver()
    let first = SimpleOperation { 1 }.requiring(.connectivity(status))
      .observed(by: observer).start()
    await observer.waitForWaits(1)
    status.update(isConnected: true)
    let second = SimpleOperation { 2 }.requiring(.connectivity(status))
    #expect(await second.run().result == 2)
    #expect(await first.outcome.result == 1)
    status.update(isConnected: false)
    let third = SimpleOperation { 3 }.requiring(.connectivity(status))
      .observed(by: observer).start()
    await observer.waitForWaits(2)
    status.update(isConnected: false)
    status.update(isConnected: true)
    #expect(await third.outcome.result == 3)
  }

  @Test func `a cancelled wait ends immediately, and other waits continue`() async throws {
    let status = ConnectivityStatus(isConnected: false)
    let waits = (0..<3).map { index in
      SimpleOperation.withContext { context in
        try await status.waitForConnectivity(in: context)
        return index
      }.start()
    }
    waits[1].cancel()
    #expect(await waits[1].outcome.isCancelled)
    status.update(isConnected: true)
    #expect(await waits[0].outcome.result == 0)
    #expect(await waits[2].outcome.result == 2)
  }

  @Test func `a request waits before every attempt`() async throws {
    let status = ConnectivityStatus(isConnected: true)
    let server = try LoopbackServer { request, connection in
      // The network is lost, and so is the connection.
      if request.number == 0 { return status.update(isConnected: false) }
      connection.send(.init("back"))
    }
    let observer = WaitObserver()
    let run = HTTPDataOperation(server.url()).requiring(.connectivity(status))
      .retryingHTTP(backoff: .none).observed(by: observer).start()
    await observer.waitForWaits(2)
    #expect(server.requests.count == 1)
    status.update(isConnected: true)
    #expect(try await run.outcome.get().body == Data("back".utf8))
  }

  @Test func `a probe finds a reachable host immediately`() async throws {
    let server = try LoopbackServer(.init())
    for host in ["127.0.0.1", "localhost"] {
      let probe = HostProbe(host: host, port: server.port, timeout: .seconds(600))
      let wait = SimpleOperation.withContext { try await probe.waitForConnectivity(in: $0) }
      #expect(await wait.run().error == nil)
    }
  }

  @Test(.timeLimit(.minutes(10)))
  func `an address that never responds does not delay another one`() async throws {
    let server = try LoopbackServer(.init())
    let full = try FullServer(at: server.port, host: 2)
    let addresses = ["127.0.0.2", "127.0.0.1"].flatMap {
      Reachability.addresses(of: $0, port: server.port)
    }
    #expect(addresses.count == 2)
    let isReachable = await onNewThread {
      Reachability.canConnect(toAnyOf: addresses, within: .seconds(86_400))
    }
    #expect(isReachable)
    withExtendedLifetime((server, full)) {}
  }

  @Test func `a host is unreachable if none of its addresses accepts a connection`() async throws {
    let port = try LoopbackServer.unusedPort()
    let addresses = Reachability.addresses(of: "127.0.0.1", port: port)
    let isReachable = await onNewThread {
      Reachability.canConnect(toAnyOf: addresses + addresses, within: .seconds(86_400))
    }
    #expect(!isReachable)
    #expect(Reachability.addresses(of: "nohost.invalid", port: port).isEmpty)
  }

  @Test func `a probe repeats its attempts by the clock of the run`() async throws {
    let port = try LoopbackServer.unusedPort()
    let probe = HostProbe(host: "127.0.0.1", port: port, backoff: .constant(.seconds(5)))
    let clock = ManualClock()
    let wait = SimpleOperation.withContext { try await probe.waitForConnectivity(in: $0) }
    let run = wait.start(in: OperationEnvironment(clock: clock))
    for _ in 0..<3 {
      await clock.waitForSleepers(1)
      clock.advance(by: .seconds(5))
    }
    await clock.waitForSleepers(1)
    let server = try LoopbackServer(at: port, .init())
    clock.advance(by: .seconds(5))
    #expect(await run.outcome.error == nil)
    withExtendedLifetime(server) {}
  }

  @Test func `cancelling a probe ends it immediately, while it waits or connects`() async throws {
    let clock = ManualClock()
    let refused = HostProbe(host: "127.0.0.1", port: try LoopbackServer.unusedPort())
    let waiting = SimpleOperation.withContext { try await refused.waitForConnectivity(in: $0) }
      .start(in: OperationEnvironment(clock: clock))
    await clock.waitForSleepers(1)
    waiting.cancel()
    #expect(await waiting.outcome.isCancelled)
    // A full server neither accepts nor refuses a connection.
    let full = try FullServer()
    let silent = HostProbe(host: "127.0.0.1", port: full.port, timeout: .seconds(3_600))
    let observer = RecordingObserver()
    let looking = SimpleOperation.withContext { try await silent.waitForConnectivity(in: $0) }
      .observed(by: observer).start()
    while observer.events(of: "probe 127.0.0.1:\(full.port)").isEmpty { await Task.yield() }
    looking.cancel()
    #expect(await looking.outcome.isCancelled)
    withExtendedLifetime(full) {}
  }
}

/// Records the conditions that runs wait for.
private final class WaitObserver: OperationObserver {
  private let waits = Lock<[[String]]>([])

  func observe(_ event: OperationEvent) {
    guard case .waitingBegan(.conditions(let names)) = event.kind else { return }
    waits.withLock { $0.append(names) }
  }

  var names: [[String]] { waits.withLock { $0 } }

  func waitForWaits(_ count: Int) async {
    while names.count < count { await Task.yield() }
  }
}
