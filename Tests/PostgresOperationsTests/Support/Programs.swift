internal import Foundation
internal import TestSupport

extension PrivateServer {
  /// Why no server can be started here, in one line; nil if it can.
  static let missingServer: String? = {
    guard case .failure(let failure) = Programs.found else { return nil }
    print("PostgreSQL: \(failure); its tests are skipped.")
    return failure.description
  }()

  /// Why there is no server with the schema of Absurd here, in one line; nil if there is.
  static let whatIsMissing: String? = {
    if let missingServer { return missingServer }
    if Programs.schema != nil { return nil }
    let reason = "no .build/absurd/schema.sql, which .ci/postgres downloads"
    print("Absurd: \(reason); its tests are skipped.")
    return reason
  }()

  /// The programs of PostgreSQL.
  struct Programs: Sendable {
    /// The folder of the programs.
    let folder: String
    /// The user that runs the server; nil for the user of this process. PostgreSQL rejects root.
    let user: (id: uid_t, group: gid_t)?

    static let found: Result<Programs, Failure> = find()

    /// The path of the file with the schema of Absurd; nil if there is none.
    static let schema: String? = {
      let package = URL(fileURLWithPath: #filePath).pathComponents.dropLast(4).joined(
        separator: "/")
      return [package, FileManager.default.currentDirectoryPath]
        .map { "\($0)/.build/absurd/schema.sql" }
        .first { FileManager.default.fileExists(atPath: $0) }
    }()

    func command(_ name: String, _ arguments: [String]) -> TestProgram {
      let program = "\(folder)/\(name)"
      // The working folder of the tests may be closed to the other user.
      guard let user else { return TestProgram(program, arguments, in: "/") }
      return TestProgram(
        Self.setpriv,
        ["--reuid", "\(user.id)", "--regid", "\(user.group)", "--clear-groups", program]
          + arguments, in: "/")
    }

    private static let setpriv = "/usr/bin/setpriv"

    private static func find() -> Result<Programs, Failure> {
      let installed = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib/postgresql"))
      let versions = (installed ?? []).sorted { (Int($0) ?? 0) > (Int($1) ?? 0) }
        .map { "/usr/lib/postgresql/\($0)/bin" }
      let path = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        .map { String($0) }
      let names = ["initdb", "postgres", "psql"]
      let folder = (versions + path + ["/usr/pgsql/bin", "/opt/homebrew/bin"]).first { folder in
        names.allSatisfy { FileManager.default.isExecutableFile(atPath: "\(folder)/\($0)") }
      }
      guard let folder else { return .failure(Failure(description: "not installed")) }
      if getuid() != 0 { return .success(Programs(folder: folder, user: nil)) }
      guard FileManager.default.isExecutableFile(atPath: setpriv) else {
        return .failure(Failure(description: "\(setpriv) is missing, and root cannot run a server"))
      }
      for name in ["postgres", "nobody"] {
        guard let user = unsafe getpwnam(name) else { continue }
        return unsafe .success(
          Programs(folder: folder, user: (user.pointee.pw_uid, user.pointee.pw_gid)))
      }
      return .failure(
        Failure(description: "no user postgres or nobody, and root cannot run a server"))
    }
  }
}
