import Foundation
import TestSupport

/// Programs that run with a private PostgreSQL server.
enum WithServer {
  /// A script of the shell with a server, whose first two arguments are the tool and the address of a
  /// database with the queue `default`.
  ///
  /// - Parameter isBare: Whether the database has neither the schema of the queue nor the queue.
  static func shell(_ script: String, isBare: Bool = false) -> Program {
    let folder = URL(fileURLWithPath: #filePath).pathComponents.dropLast(4).joined(separator: "/")
    return Program(
      executable: URL(fileURLWithPath: folder + "/Sources/coop/Cluster/with-server"),
      arguments: (isBare ? ["--bare"] : []) + [
        "/bin/bash", "-c", script, "bash", Program.coop().executable.path, "ADDRESS",
      ])
  }

  /// Whether there are libpq, PostgreSQL and the schema here. Prints a line if not.
  static func isPossible() async throws -> Bool { try await isPossible(missing) }

  /// Whether there are libpq and PostgreSQL here. Prints a line if not.
  static func isPossibleBare() async throws -> Bool { try await isPossible(missingBare) }

  private static func isPossible(_ missing: Task<String?, any Error>) async throws -> Bool {
    if let missing = try await missing.value { print("\(missing); its tests are skipped.") }
    return try await missing.value == nil
  }

  private static let missing = Task { try await missing(isBare: false) }
  private static let missingBare = Task { try await missing(isBare: true) }

  private static func missing(isBare: Bool) async throws -> String? {
    let address = "postgresql://user@/none?host=/no/such/folder"
    let connected = try await Program.coop("journal", address, "check").run()
    if connected.error.contains("built without PostgreSQL") {
      return "PostgreSQL: libpq is missing"
    }
    let started = try await shell("true", isBare: isBare).run()
    // Any other failure is one of the tests.
    let isMissing = ["not installed", "missing"].contains(where: started.error.contains)
    return isMissing ? started.error.split(separator: "\n").last.map(String.init) : nil
  }
}
