import CompositeOperations
import DurableOperations
import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct WorkerTests {
  @Test(arguments: [
    (["worker"], "no ADDRESS; expected the SQLite file of a journal, or postgresql://"),
    (["worker", ""], "invalid ADDRESS ; expected the SQLite file"),
    (
      ["worker", "x", "--fast"],
      "unexpected argument --fast; expected --commands, --drain, --queue, --width or --lease"
    ),
    (["worker", "x", "--width"], "--width without a number; expected a number from 1 to 10000"),
    (["worker", "x", "--width", "0"], "invalid --width 0; expected a number from 1"),
    (["worker", "x", "--lease", "1.5"], "invalid --lease 1.5; expected a number from 1 to 3600"),
    (["worker", "x", "--queue", "q"], "--queue with a file, which has no queues"),
    (["cluster-demo"], "no ADDRESS; expected postgresql://USER@HOST/DATABASE"),
    (["cluster-demo", "x"], "ADDRESS x is a path; expected postgresql://USER@HOST/DATABASE"),
    (["cluster-demo", "postgresql://h/d", "--children", "no"], "invalid --children no; expected"),
    (["cluster-demo", "postgresql://h/d", "x"], "unexpected argument x; expected --queue"),
  ])
  func `invalid arguments are reported in one line with the expected ones`(
    arguments: [String], message: String
  ) async throws {
    var program = Program.coop()
    program.arguments = arguments
    let printed = try await program.run()
    #expect(printed.status == 64)
    #expect(printed.output.isEmpty)
    #expect(printed.error.contains(message), "\(printed.error)")
    #expect(printed.error.split(separator: "\n").count == 1)
  }

  @Test(arguments: [
    "postgresql://bob:s3cret@/none?host=/no/such/folder",
    "postgresql://bob@/none?host=/no/such/folder&password=s3cret", "redis://bob:s3cret@host",
    "postgresql://bob:s3cret@host:port/none",
  ])
  func `the error of an address is one line without the password`(address: String) async throws {
    for arguments in [
      ["journal", address, "init"], ["journal", address, "list"], ["worker", address],
    ] {
      var program = Program.coop()
      program.arguments = arguments
      let printed = try await program.run()
      #expect(printed.status == 1)
      #expect(printed.output.isEmpty)
      #expect(!printed.error.contains("s3cret"), "\(printed.error)")
      #expect(printed.error.split(separator: "\n").count == 1)
    }
  }

  #if os(Linux)
    @Test(arguments: terminationSignals)
    func `a worker prints the runs that end or get stuck, until a signal`(number: Int32)
      async throws
    {
      let folder = try TemporaryFolder()
      let path = folder.path + "/flows.sqlite"
      let store = RunStore.sqlite(path)
      try await store.start(Part(number: 3), named: "part")
      try await store.start(WrongPart(number: "three"), named: "wrong")
      try await store.start(Fulfilment(), named: "unknown")
      let printed = try await Program.coop("worker", path, "--width", "2").run { process in
        try await eventually {
          let text = (1...2).map { stream in
            (try? String(contentsOfFile: "/proc/\(process)/fd/\(stream)", encoding: .utf8)) ?? ""
          }.joined()
          return text.contains("run part") && text.contains("run wrong")
        }
        kill(process, number)
      }
      #expect(printed.status == 128 + number)
      let lines = printed.text.split(separator: "\n")
      #expect(lines.first?.contains("/") == true)
      #expect(lines.first?.hasSuffix(" runs up to 2 runs of \(path)") == true)
      #expect(lines.dropFirst() == ["run part of ClusterPart has ended: result"])
      let errors = printed.error.split(separator: "\n")
      #expect(
        errors.first?.hasPrefix("coop worker: run wrong is stuck: its state cannot") == true)
      #expect(errors.dropFirst() == ["coop worker: interrupted; its runs are released"])
      #expect(try await store.run("unknown")?.summary.state == .ready)
    }
  #endif
}

/// The state of a flow that the worker knows.
private struct Part: DurableSequence {
  static let flowName = "ClusterPart"

  let number: Int
  var sum = 0

  func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? { nil }
}

/// A state that the worker cannot decode.
private struct WrongPart: DurableSequence {
  static let flowName = "ClusterPart"

  let number: String

  func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? { nil }
}
