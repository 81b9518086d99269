import Foundation
import TestSupport

/// PostgreSQL servers that tests share. They end after this process.
enum TestServer {
  struct Failure: Error {
    let description: String
  }

  /// The address of its database, and the path of psql.
  typealias Place = (address: String, psql: String)

  /// The server of the tests of `flow run --on`.
  static let ofFlows = Task { try await start(isBare: false) }
  /// The server of the tests of `records`.
  static let ofRecords = Task { try await start(isBare: true) }
  /// The server of the tests of `records import`, whose open transactions would delay the changes of
  /// other tests.
  static let ofImports = Task { try await start(isBare: true) }

  private static func start(isBare: Bool) async throws -> Place {
    let place = FileManager.default.temporaryDirectory.path + "/test-server-\(UUID().uuidString)"
    var server = WithServer.shell(
      """
      echo "$2 $(command -v psql)" > "$3.new"; mv "$3.new" "$3"
      tail --pid="$4" -s 0.2 -f /dev/null
      """, isBare: isBare)
    server.arguments += [place, "\(ProcessInfo.processInfo.processIdentifier)"]
    let program = TestProgram(server.executable.path, server.arguments)
    // Without the outputs of this process: `swift test` collects it when they are closed, and the
    // server ends after that.
    let running = try program.start()
    try await eventually {
      FileManager.default.fileExists(atPath: place) || hasEnded(running.processIdentifier)
    }
    defer { try? FileManager.default.removeItem(atPath: place) }
    let words = (try? String(contentsOfFile: place, encoding: .utf8))?.split(separator: " ") ?? []
    guard words.count == 2, let psql = words[1].split(separator: "\n").first else {
      throw Failure(description: "the server does not start")
    }
    return (String(words[0]), String(psql))
  }
}
