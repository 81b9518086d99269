import Foundation
import TestSupport

/// A flow file with a queue of its own, and workers of that queue, which end with this object.
final class FlowOnFixture {
  let flow: FlowFixture
  let address: String
  let queue: String
  private var workers: [FlowWorker] = []

  init(_ steps: String, head: String = "") async throws {
    flow = try FlowFixture(steps, head: head)
    let server = try await TestServer.ofFlows.value
    address = server.address
    queue = "q" + UUID().uuidString.prefix(8).lowercased()
    let created = try await Program(
      executable: URL(fileURLWithPath: server.psql),
      arguments: ["-q", address, "-c", "select absurd.create_queue('\(queue)')"]
    ).run()
    if created.status != 0 { throw TestServer.Failure(description: created.error) }
  }

  deinit { for worker in workers { kill(worker.process, SIGKILL) } }

  /// Starts a worker that runs commands.
  @discardableResult
  func startWorker(_ arguments: String..., runsCommands: Bool = true) throws -> FlowWorker {
    let worker = try FlowWorker(
      ["worker", address, "--queue", queue] + (runsCommands ? ["--commands"] : []) + arguments)
    workers.append(worker)
    return worker
  }

  /// `coop flow run f.json` on the workers.
  func program(_ arguments: String...) -> Program {
    flow.program(["run", "f.json", "--on", address, "--queue", queue] + arguments)
  }

  /// Starts `coop flow run`, and kills it with SIGKILL when a file exists.
  func killWhenExists(_ name: String) async throws {
    let path = flow.folder.path + "/" + name
    let printed = try await program().run { process in
      try await eventually { FileManager.default.fileExists(atPath: path) || hasEnded(process) }
      kill(process, SIGKILL)
    }
    if printed.status != SIGKILL { throw TestServer.Failure(description: printed.error) }
  }
}

/// A running `coop worker`.
final class FlowWorker: Sendable {
  let process: Int32
  private let end: Task<Int32, Never>
  private let folder = try? TemporaryFolder()

  init(_ arguments: [String]) throws {
    var program = Program.coop()
    program.arguments = arguments
    try folder?.write("", to: "errors")
    let running = try TestProgram(program.executable.path, arguments).start(
      error: folder.flatMap { FileHandle(forWritingAtPath: $0.path + "/errors") })
    process = running.processIdentifier
    end = Task { await running.end() }
  }

  /// What the worker has written to its standard error.
  var errors: String {
    folder.flatMap { try? String(contentsOfFile: $0.path + "/errors", encoding: .utf8) } ?? ""
  }

  /// The exit status of the worker, when it has ended.
  var status: Int32 { get async { await end.value } }

  /// Sends a signal to the worker, and waits until it has ended.
  func end(by number: Int32) async {
    kill(process, number)
    _ = await end.value
  }
}
