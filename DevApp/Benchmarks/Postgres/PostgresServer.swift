#if canImport(PostgresOperations)
  import Foundation
  import Synchronization

  /// A PostgreSQL server in a temporary folder, which accepts connections by a Unix socket only and
  /// commits to the disk.
  final class PostgresServer: Sendable {
    private let folder: DurableFolder
    private let programs: PostgresPrograms
    private let process: Mutex<ChildProcess>
    private let queues = Atomic(0)

    private static let database = "flows"

    /// Starts the server.
    ///
    /// - Parameter hasFlows: Whether the database has the schema of Absurd.
    /// - Throws: A ``BenchmarkError``, also if something is missing.
    init(hasFlows: Bool = true) throws {
      programs = try PostgresPrograms()
      let schema = FileManager.default.currentDirectoryPath + "/.build/absurd/schema.sql"
      guard !hasFlows || FileManager.default.isReadableFile(atPath: schema) else {
        throw BenchmarkError("Absurd is missing: no '\(schema)', which `.ci/postgres` downloads")
      }
      // The path of a socket is short, and the other user must have access to it.
      let folder = try DurableFolder(in: "/tmp")
      self.folder = folder
      var isStarted = false
      defer { if !isStarted { folder.remove() } }
      if let owner = programs.owner, chown(folder.path, owner.id, owner.group) != 0 {
        throw BenchmarkError("'\(folder.path)' cannot be given to the user \(owner.id)")
      }
      chmod(folder.path, 0o700)
      process = Mutex(try Self.start(programs, in: folder.path))
      try waitUntilReady()
      try query("create database \(Self.database)", in: "postgres")
      if hasFlows { try psql(["-f", schema]) }
      isStarted = true
    }

    private static func start(
      _ programs: PostgresPrograms, in folder: String
    ) throws -> ChildProcess {
      let log = "\(folder)/log"
      try PostgresPrograms.output(
        of: programs.serverCommand(
          "initdb",
          ["-D", "\(folder)/data", "-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C"],
          log: log))
      let settings = [
        "listen_addresses=", "unix_socket_directories=\(folder)", "max_connections=300",
        "fsync=on", "synchronous_commit=on", "shared_buffers=256MB",
        // Each measurement begins with a checkpoint; none comes in its middle.
        "max_wal_size=8GB", "checkpoint_timeout=1h", "log_checkpoints=off",
        "log_line_prefix=%a ", "lc_messages=C",
      ]
      let command = programs.serverCommand(
        "postgres", ["-D", "\(folder)/data"] + settings.flatMap { ["-c", $0] }, log: log)
      return try ChildProcess(
        path: command[0], arguments: Array(command.dropFirst()),
        environment: ProcessInfo.processInfo.environment)
    }

    private func waitUntilReady() throws {
      let deadline = ContinuousClock.now + .seconds(60)
      while (try? query("select 1", in: "postgres")) == nil {
        if ContinuousClock.now > deadline {
          throw BenchmarkError("PostgreSQL does not start: \(try log().suffix(1_000))")
        }
        usleep(50_000)
      }
    }

    /// Ends the server at once, and removes its files.
    func stop() {
      process.withLock { process in
        kill(process.id, SIGQUIT)
        process.end()
      }
      folder.remove()
    }

    // MARK: The database

    var fileSystem: String { folder.fileSystem }

    /// The folder of the socket, for files beside it.
    var path: String { folder.path }

    /// The version, such as "PostgreSQL 15.8".
    var version: String {
      let version = (try? query("show server_version"))?.split(separator: " ").first
      return "PostgreSQL \(version ?? "")"
    }

    /// The address of the database for stores.
    var address: String { address(of: Self.database) }

    /// The address whose connections have a name, and log all of their statements.
    func loggingAddress(for name: String) -> String {
      address + "&application_name=\(name)&options=-clog_statement%3Dall"
    }

    private func address(of database: String) -> String {
      "postgresql://postgres@/\(database)?host=\(folder.path)"
    }

    /// - Returns: The rows, with `|` between the columns.
    @discardableResult func query(_ sql: String) throws -> String { try psql(["-c", sql]) }

    /// Runs statements or commands of psql, one after another.
    ///
    /// - Returns: The output.
    @discardableResult func commands(_ commands: [String]) throws -> String {
      try psql(commands.flatMap { ["-c", $0] })
    }

    private func query(_ sql: String, in database: String) throws {
      try psql(["-c", sql], in: database)
    }

    @discardableResult
    private func psql(_ arguments: [String], in database: String = database) throws -> String {
      try PostgresPrograms.output(
        of: programs.command(
          "psql",
          ["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", address(of: database)]
            + arguments))
    }

    /// Creates a queue for a measurement, and deletes it afterwards.
    func withQueue<Result>(
      _ body: (String) async throws -> Result
    ) async throws -> Result {
      let name = newQueue()
      try query("select absurd.create_queue('\(name)')")
      let result = try await body(name)
      try query("select absurd.drop_queue('\(name)')")
      return result
    }

    private func newQueue() -> String {
      "q\(queues.wrappingAdd(1, ordering: .relaxed).newValue)"
    }

    /// Brings the statistics and the files up to date, before a measurement.
    func settle(_ queue: String) throws {
      let tables = ["t", "r", "c", "e", "w"].map { "absurd.\($0)_\(queue)" }
      try query("vacuum analyze \(tables.joined(separator: ", "))")
      try query("checkpoint")
    }

    // MARK: Its log

    func log() throws -> String {
      try String(contentsOfFile: "\(folder.path)/log", encoding: .utf8)
    }

    /// The number of statements that the connections of a name have logged so far.
    func loggedStatements(of name: String) throws -> Int {
      try log().split(separator: "\n").count { $0.hasPrefix("\(name) LOG:") }
    }

    // MARK: pgbench

    /// Runs a script by pgbench, in prepared mode.
    ///
    /// - Parameters:
    ///   - transactions: The number of transactions of all clients.
    ///   - variables: The values of the variables in the script.
    /// - Returns: The nanoseconds of all transactions, without the time to connect.
    func pgbench(
      _ script: String, clients: Int, transactions: Int, _ variables: [String: String]
    ) throws -> Double {
      let file = "\(folder.path)/script.sql"
      try script.write(toFile: file, atomically: false, encoding: .utf8)
      let values = variables.sorted { $0.key < $1.key }.flatMap { ["-D", "\($0.key)=\($0.value)"] }
      let output = try PostgresPrograms.output(
        of: programs.command(
          "pgbench",
          ["-n", "-M", "prepared", "-c", "\(clients)", "-j", "2", "-f", file]
            + ["-t", "\(transactions / clients)"] + values + [address]))
      // tps = 1234.567890 (without initial connection time)
      guard let line = output.split(separator: "\n").first(where: { $0.hasPrefix("tps = ") }),
        let rate = Double(line.dropFirst("tps = ".count).prefix { $0 != " " }),
        output.contains("actually processed: \(transactions)/\(transactions)")
      else { throw BenchmarkError("pgbench has answered: \(output.suffix(1_000))") }
      return Double(transactions) / rate * 1e9
    }
  }
#endif
