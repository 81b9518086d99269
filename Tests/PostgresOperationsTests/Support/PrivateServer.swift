internal import Dispatch
internal import Foundation
internal import PostgresOperations
internal import TestSupport

/// A PostgreSQL server in a temporary folder, which accepts connections by a Unix socket only.
///
/// The server ends, and its folder is removed, when the object is deallocated or when this process
/// ends, however that happens.
// Unchecked because of the variables, which only blocks on the serial queue access.
final class PrivateServer: @unchecked Sendable {
  /// The server that tests share if they do not stop it. The first database starts it.
  static let shared = PrivateServer()

  enum Shutdown: Int32 {
    /// Ends the connections and writes everything to the disk.
    case fast = 2
    /// As a crash: the next start recovers.
    case immediate = 3
  }

  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// The folder of the socket.
  let folder = "/tmp/pg-" + UUID().uuidString.prefix(8).lowercased()
  private let settings: [String]
  private let queue = DispatchQueue(label: "private PostgreSQL server")
  private var server: RunningProgram?
  private var watchdog: RunningProgram?
  private var hasTemplate = false

  /// - Parameter settings: Settings of the server, such as `fsync=on`.
  init(settings: [String] = []) { self.settings = settings }

  deinit {
    signalAll(SIGCONT)
    stopNow(.immediate)
    // It removes the folder.
    if let watchdog {
      kill(watchdog.processIdentifier, SIGTERM)
      _ = watchdog.waitUntilExit()
    }
  }

  /// The address of the database `postgres`.
  var address: String { address(of: "postgres") }

  private func address(of database: String, role: String = "postgres") -> String {
    "postgresql://\(role)@/\(database)?host=\(folder)"
  }

  // MARK: Running

  /// Starts the server, unless it runs.
  func start() async throws { try await perform { try $0.startNow() } }

  func stop(_ shutdown: Shutdown) async throws { try await perform { $0.stopNow(shutdown) } }

  func restart(_ shutdown: Shutdown) async throws {
    try await perform {
      $0.stopNow(shutdown)
      try $0.startNow()
    }
  }

  /// Stops all processes of the server by a signal: connections stay open, without an answer.
  func pause() async throws { try await perform { $0.signalAll(SIGSTOP) } }

  func resume() async throws { try await perform { $0.signalAll(SIGCONT) } }

  /// Creates a database, in a server that is started if necessary.
  ///
  /// - Parameter hasSchema: Whether it has the schema of Absurd.
  /// - Returns: The address of the database.
  func freshDatabase(hasSchema: Bool = true) async throws -> String {
    try await perform { server in
      try server.startNow()
      if hasSchema { try server.makeTemplate() }
      let name = "test_" + UUID().uuidString.lowercased().replacing("-", with: "")
      try server.query("CREATE DATABASE \(name)" + (hasSchema ? " TEMPLATE absurd" : ""))
      return server.address(of: name)
    }
  }

  /// Creates a schema in the database `postgres`, which takes less time than a database.
  ///
  /// - Returns: An address whose connections use the schema.
  func freshSchema() async throws -> String {
    try await perform { server in
      try server.startNow()
      let name = "test_" + UUID().uuidString.lowercased().replacing("-", with: "")
      try server.query("CREATE SCHEMA \(name)")
      return server.address + "&options=-csearch_path%3D\(name)"
    }
  }

  /// Returns what the server has logged.
  func log() async throws -> String { try await perform { $0.text("log") } }

  /// Runs SQL in the database `postgres`, or in the given one, by `psql`.
  ///
  /// - Returns: The output, without headers.
  @discardableResult
  func query(_ sql: String, at address: String? = nil) async throws -> String {
    try await perform { try $0.query(sql, at: address) }
  }

  // MARK: On the queue

  private func perform<Result: Sendable>(
    _ body: @escaping @Sendable (PrivateServer) throws -> Result
  ) async throws -> Result {
    try await withCheckedThrowingContinuation { waiter in
      queue.async { [self] in
        let result = Swift.Result { try body(self) }
        waiter.resume(with: result)
      }
    }
  }

  private func startNow() throws {
    if server != nil { return }
    let programs = try Programs.found.get()
    if watchdog == nil { try initialize(programs) }
    let options =
      [
        "listen_addresses=", "unix_socket_directories=\(folder)", "max_connections=300",
        "shared_buffers=64MB", "fsync=off", "wal_level=minimal", "max_wal_senders=0",
        "lc_messages=C",
      ] + settings
    let log = try output("log")
    let server = try programs.command(
      "postgres", ["-D", "\(folder)/data"] + options.flatMap { ["-c", $0] }
    ).start(error: log)
    let deadline = ContinuousClock.now + .seconds(60)
    while true {
      let lines =
        (try? String(contentsOfFile: "\(folder)/data/postmaster.pid", encoding: .utf8))?
        .split(separator: "\n") ?? []
      if lines.first == "\(server.processIdentifier)", lines.last?.hasPrefix("ready") == true {
        break
      }
      if ContinuousClock.now > deadline || Self.hasEnded(server) {
        kill(server.processIdentifier, SIGKILL)
        _ = server.waitUntilExit()
        throw Failure(description: "PostgreSQL does not start: \(text("log").suffix(2_000))")
      }
      usleep(10_000)
    }
    self.server = server
  }

  private func initialize(_ programs: Programs) throws {
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    if let user = programs.user, unsafe chown(folder, user.id, user.group) != 0 {
      throw Failure(description: "\(folder) cannot be given to the user \(user.id)")
    }
    // Ends the server if this process is killed.
    watchdog = try TestProgram(
      "/bin/bash",
      [
        "-c",
        """
        trap stop=1 TERM
        exec {nothing}<> <(:)
        # A process that has ended may stay a zombie.
        while [[ -z ${stop:-} ]] && read -r _ _ state _ 2>/dev/null <"/proc/$1/stat" &&
          [[ $state != Z ]]; do
          read -r -t 0.2 -u $nothing
        done
        server=$(head -n 1 "$2/data/postmaster.pid" 2>/dev/null)
        if [[ -n $server ]]; then
          children=$(pgrep -P "$server")
          kill -CONT "$server" $children
          kill -QUIT "$server"
          for _ in {1..50}; do kill -0 "$server" 2>/dev/null || break; sleep 0.02; done
          kill -KILL "$server" $children
        fi
        rm -rf "$2"
        """, "watchdog", "\(ProcessInfo.processInfo.processIdentifier)", folder,
      ]
    ).start()
    let end = try programs.command(
      "initdb",
      ["-D", "\(folder)/data", "-N", "-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C"]
    ).start(error: output("initdb")).waitUntilExit()
    if end != 0 { throw Failure(description: "initdb has failed: \(text("initdb"))") }
    // A role for tests of passwords.
    try "local all secured scram-sha-256\nlocal all all trust\n"
      .write(toFile: "\(folder)/data/pg_hba.conf", atomically: false, encoding: .utf8)
  }

  private func stopNow(_ shutdown: Shutdown) {
    guard let server else { return }
    kill(server.processIdentifier, shutdown.rawValue)
    _ = server.waitUntilExit()
    self.server = nil
  }

  private func signalAll(_ signal: Int32) {
    guard let server else { return }
    // First the process that starts the others.
    kill(server.processIdentifier, signal)
    for process in Self.children(of: server.processIdentifier) { kill(process, signal) }
  }

  private func makeTemplate() throws {
    if hasTemplate { return }
    guard let schema = Programs.schema else { throw Failure(description: "there is no schema") }
    try query("CREATE DATABASE absurd")
    try psql(["-f", schema], at: address(of: "absurd"))
    hasTemplate = true
  }

  @discardableResult private func query(_ sql: String, at address: String? = nil) throws -> String {
    try psql(["-c", sql], at: address ?? self.address)
  }

  @discardableResult private func psql(_ arguments: [String], at address: String) throws -> String {
    let programs = try Programs.found.get()
    let (result, errors) = ("query-\(UUID().uuidString)", "errors-\(UUID().uuidString)")
    defer { for name in [result, errors] { unsafe unlink("\(folder)/\(name)") } }
    let end = try TestProgram(
      "\(programs.folder)/psql",
      ["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", address] + arguments
    ).start(output: output(result), error: output(errors)).waitUntilExit()
    if end != 0 { throw Failure(description: "psql has failed: \(text(errors))") }
    return text(result).trimmingCharacters(in: .newlines)
  }

  // MARK: Files and processes

  private func output(_ name: String) throws -> FileHandle {
    let file = unsafe open("\(folder)/\(name)", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw Failure(description: "\(folder)/\(name) cannot be written") }
    return FileHandle(fileDescriptor: file, closeOnDealloc: true)
  }

  private func text(_ name: String) -> String {
    (try? String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8)) ?? ""
  }

  private static func hasEnded(_ program: RunningProgram) -> Bool {
    status(of: program.processIdentifier)?.first.map { $0 == "Z" } ?? true
  }

  private static func children(of parent: Int32) -> [Int32] {
    ((try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []).compactMap { name in
      guard let process = Int32(name), status(of: process)?.dropFirst().first == "\(parent)"
      else { return nil }
      return process
    }
  }

  /// The fields of `/proc/PROCESS/stat` after the name: the state, the parent, and others.
  private static func status(of process: Int32) -> [Substring]? {
    (try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8))?
      .split(separator: ")").last?.split(separator: " ")
  }
}

extension PrivateServer {
  /// The log, of a server with the setting `log_statement=all` also with the statements.
  var logText: String { (try? String(contentsOfFile: "\(folder)/log", encoding: .utf8)) ?? "" }

  /// The number of statements in the log, of a server with the setting `log_statement=all`.
  var statementCount: Int {
    logText.split(separator: "\n").count {
      $0.contains("LOG:  statement:") || $0.contains("LOG:  execute ")
    }
  }
}
