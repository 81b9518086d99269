import Foundation
import HTTPOperations
import LoopbackServer
import TestSupport
import Testing

/// A server that sends hostile responses, and the sessions that request them.
final class HostileServer: Sendable {
  private let answers: [HostileAnswer]
  private let server: LoopbackServer
  private let session = HTTPSession.withTimeout(.seconds(300))
  private let folder: TemporaryFolder

  init(_ answers: [HostileAnswer]) throws {
    self.answers = answers
    server = try LoopbackServer { request, connection in
      guard let index = Int(request.path.dropFirst()) else {
        let path = request.path
        return connection.send(
          .init(path == "/target" ? "target" : path.hasSuffix("?a") ? "?a" : path))
      }
      Self.send(answers[index], on: connection)
    }
    folder = try TemporaryFolder()
  }

  private static func send(_ answer: HostileAnswer, on connection: LoopbackConnection) {
    connection.send(answer.bytes)
    if !answer.secondPart.isEmpty {
      // So that the client receives the parts one after the other.
      usleep(1_000)
      connection.send(answer.secondPart)
    }
    switch answer.rest {
    case .close: break
    case .reset: connection.reset()
    case .hold: connection.keepOpen()
    case .endless(let bytes): while connection.send(bytes) {}
    }
  }

  /// Requests every response by every operation that is listed in it, and records an issue for every
  /// end that is not the expected one.
  ///
  /// - Parameter isolates: Whether each request has its own session, so that no response can have an
  ///   effect on another one by their connection.
  func checkEnds(isolates: Bool = false) async {
    let mistakes = await withTaskGroup(of: String?.self) { group -> [String] in
      for (index, answer) in answers.enumerated() {
        for transfer in answer.transfers {
          group.addTask { await self.mistake(in: index, transfer, isolates) }
        }
      }
      var mistakes: [String] = []
      for await mistake in group { if let mistake { mistakes.append(mistake) } }
      return mistakes.sorted()
    }
    for mistake in mistakes.prefix(100) { Issue.record(Comment(rawValue: mistake)) }
  }

  private func mistake(
    in index: Int, _ transfer: HostileTransfer, _ isolates: Bool
  ) async -> String? {
    let answer = answers[index]
    let end = await transfer.end(
      of: server.url("/\(index)"), bodyLimit: answer.bodyLimit, in: folder,
      session: isolates || answer.hasShortTimeout
        ? .withTimeout(.seconds(answer.hasShortTimeout ? 1 : 300)) : session)
    let expected = answer.expectedEnd(of: transfer)
    if end == expected { return nil }
    return "\(answer.name), \(transfer): \(end)\n    instead of \(expected)"
  }
}

extension HTTPSession {
  fileprivate static func withTimeout(_ timeout: Duration) -> HTTPSession {
    var configuration = HTTPConfiguration()
    configuration.connectionsPerHost = 32
    // On a busy machine everything takes longer.
    configuration.timeout = timeout
    return HTTPSession(configuration)
  }
}
