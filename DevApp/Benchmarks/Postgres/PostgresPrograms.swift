#if canImport(PostgresOperations)
  import Foundation

  /// The programs of PostgreSQL.
  struct PostgresPrograms: Sendable {
    /// The folder of the programs.
    private let folder: String
    /// The user that runs the server; nil for the user of this process. PostgreSQL rejects root.
    let owner: (id: uid_t, group: gid_t)?

    /// - Throws: A ``BenchmarkError`` that says what is missing.
    init() throws {
      let installed = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib/postgresql"))
      let versions = (installed ?? []).sorted { (Int($0) ?? 0) > (Int($1) ?? 0) }
        .map { "/usr/lib/postgresql/\($0)/bin" }
      let path = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        .map { String($0) }
      let needed = ["initdb", "postgres", "psql", "pgbench"]
      let folder = (versions + path).first { folder in
        needed.allSatisfy { FileManager.default.isExecutableFile(atPath: "\(folder)/\($0)") }
      }
      guard let folder else {
        throw BenchmarkError(
          "PostgreSQL is missing: no folder has \(needed.joined(separator: ", ")); `.ci/postgres` "
            + "installs them")
      }
      self.folder = folder
      if getuid() != 0 {
        owner = nil
        return
      }
      let users = ["postgres", "nobody"]
      guard let user = users.lazy.compactMap({ (name: String) in getpwnam(name) }).first else {
        throw BenchmarkError(
          "PostgreSQL cannot run: root must not run it, and there is no user postgres or nobody")
      }
      owner = (user.pointee.pw_uid, user.pointee.pw_gid)
    }

    /// The command that runs a program as this user.
    func command(_ name: String, _ arguments: [String]) -> [String] {
      ["\(folder)/\(name)"] + arguments
    }

    /// The command that runs a program of the server, whose messages are appended to a file. The
    /// system ends the program when this process ends.
    func serverCommand(_ name: String, _ arguments: [String], log: String) -> [String] {
      // The working folder may be closed to the other user.
      let shell = ["/bin/bash", "-c", #"cd / && log=$0 && exec "$@" >> "$log" 2>&1"#, log]
      let program = shell + command(name, arguments)
      let setpriv = "/usr/bin/setpriv"
      guard FileManager.default.isExecutableFile(atPath: setpriv) else { return program }
      let user = owner.map { ["--reuid", "\($0.id)", "--regid", "\($0.group)", "--clear-groups"] }
      return [setpriv, "--pdeathsig", "QUIT"] + (user ?? []) + program
    }

    /// Runs a command until it ends.
    ///
    /// - Returns: Its output, with its errors.
    /// - Throws: A ``BenchmarkError`` with the output if it does not end with status 0.
    @discardableResult
    static func output(of command: [String]) throws -> String {
      let process = Process()
      let output = Pipe()
      process.executableURL = URL(fileURLWithPath: command[0])
      process.arguments = Array(command.dropFirst())
      process.standardOutput = output
      process.standardError = output
      process.standardInput = FileHandle.nullDevice
      try process.run()
      let text = String(
        decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      process.waitUntilExit()
      if process.terminationStatus != 0 {
        throw BenchmarkError("\(command[0]) has failed: \(text.suffix(1_000))")
      }
      return text.trimmingCharacters(in: .whitespacesAndNewlines)
    }
  }
#endif
