import TestSupport

#if os(Linux)
  import CompositeOperations
  import Foundation
  import SQLiteSupport
  import TestSupport
  import Testing

  @Suite struct FlowCrashTests {
    private static let isFull =
      ProcessInfo.processInfo.environment["COMPOSITE_TEST_DEPTH"] == "full"

    /// A step that makes its output by a rename, a new file each time, so that repetitions count. It
    /// fails if its command of an earlier process is still running. At full depth, it takes up to
    /// 300 ms, so that most of them are running when the next process begins.
    private static let command = """
      set -- $1 pid/$1 made/$1.$$
      if test -e $2; then
        case $(cut -d' ' -f3 /proc/$(cat $2)/stat 2>/dev/null || echo Z) in Z) ;; *) exit 9 ;; esac
      fi
      echo $$ > $2.$$; mv $2.$$ $2
      sleep 0.\(isFull ? "$(($$ % 4))" : "00$(($$ % 10))")
      echo done > tmp.$$; mv tmp.$$ $3
      """

    /// Runs the command in a process group or a session of its own, beside a process that ends only
    /// by a signal.
    private static let isolated = """
      case $(($$ % 3)) in
        0) timeout 60 sh command $1 ;;
        1) setsid -w sh command $1 ;;
        2) setsid sleep 60 & other=$!
           setsid -w timeout 60 sh command $1 || exit $?
           kill -KILL $other ;;
      esac
      """

    /// The name does not begin with a rule, because the mutation check would run it at full depth for
    /// each mutant.
    @Test(.timeLimit(.minutes(20)), arguments: [false, true])
    func `rules L5, L7, L8 and L9 hold after SIGKILL at random`(
      inOwnSessions: Bool
    ) async throws {
      let environment = ProcessInfo.processInfo.environment
      let seed = environment["COMPOSITE_FLOW_SEED"].flatMap { UInt64($0) } ?? .random(in: 0...9_999)
      print("flow crashes: COMPOSITE_FLOW_SEED=\(seed)")
      var random = OperationRandomness.seeded(seed)
      var (kills, repeated, pipelines) = (0, 0, 0)
      repeat {
        guard let crashes = try await self.crashes(&random, inOwnSessions) else { return }
        kills += crashes.kills
        repeated += crashes.repeated
        pipelines += 1
      } while Self.isFull && kills < (inOwnSessions ? 200 : 100)
      print(
        "flow crashes: \(kills) kills of \(pipelines) pipelines, "
          + "\(repeated) commands ended unnoticed and ran again")
    }

    /// Runs a pipeline of 200 steps with random dependencies, and kills it until it ends.
    ///
    /// - Returns: The number of kills, and of the commands that ran again because their end was not
    ///   stored yet; nil after a failure, which is recorded.
    private func crashes(
      _ random: inout OperationRandomness, _ inOwnSessions: Bool
    ) async throws -> (kills: Int, repeated: Int)? {
      let names = (0..<200).map { "s\($0)" }
      let steps = names.enumerated().map { index, name in
        let needs =
          index == 0
          ? []
          : Set((0..<2).map { _ in Int.random(in: 0..<index, using: &random) })
            .map { #""s\#($0)""# }
        return
          #""\#(name)": {"run": ["sh", "\#(inOwnSessions ? "isolated" : "command")", "\#(name)"], "needs": [\#(needs.joined(separator: ","))]}"#
      }
      let flow = try FlowFixture(steps.joined(separator: ",\n"), head: #""width": 4,"#)
      try flow.folder.write(Self.command, to: "command")
      try flow.folder.write(Self.isolated, to: "isolated")
      for folder in ["made", "pid"] {
        try FileManager.default.createDirectory(
          atPath: flow.folder.path + "/" + folder, withIntermediateDirectories: true)
      }
      let made = MadeOutputs(flow.folder.path + "/made")
      var finished: [String: Int] = [:]
      var kills = 0
      while true {
        let target = made.names.count + Int.random(in: 0...(Self.isFull ? 2 : 16), using: &random)
        let isLast = made.names.count == names.count && Int.random(in: 0..<4, using: &random) == 0
        let pause = UInt32.random(in: 0...30_000, using: &random)
        let printed = try await flow.program(["run", "f.json"]).run { process in
          try await eventually {
            made.names.count >= min(target, names.count) || hasEnded(process)
          }
          // The last process ends by itself.
          if isLast { return }
          usleep(pause)
          kill(process, SIGKILL)
        }
        if printed.status == 0 { break }
        // Neither 75, the status of a stale lock, nor 1, that of a failed step.
        guard printed.status == SIGKILL else {
          Issue.record("exit status \(printed.status): \(printed.error)")
          return nil
        }
        kills += 1
        // A step that the journal has must not run again.
        let counts = made.counts
        for (name, count) in finished {
          #expect(counts[name] == count, "'\(name)' ran again after its success was stored")
        }
        for name in try finishedSteps(flow) where finished[name] == nil {
          finished[name] = counts[name]
        }
        // It was killed after the end of the run. The next process would begin a new one.
        if try hasResult(flow) { break }
      }
      let counts = made.counts
      #expect(Set(counts.keys) == Set(names))
      for (name, count) in finished { #expect(counts[name] == count) }
      #expect(marked(by: flow).isEmpty)
      #expect(try await flow.run("--dry-run").status == 0)
      return (kills, counts.values.reduce(0) { $0 + $1 - 1 })
    }

    /// The steps whose success the journal has.
    private func finishedSteps(_ flow: FlowFixture) throws -> [String] {
      let path = flow.folder.path + "/.flow/f/state.sqlite"
      guard FileManager.default.fileExists(atPath: path) else { return [] }
      let connection = try SQLiteConnection.open(
        path, for: .writing, SQLiteConfiguration(access: .existing, durability: .normal))
      let table = try connection.fetchOne(
        "SELECT 1 FROM sqlite_schema WHERE name = 'flow_success'"
      ) { _ in true }
      if table == nil { return [] }
      return try connection.fetchAll("SELECT step FROM flow_success") { $0.text(at: 0) ?? "" }
    }

    /// Whether the run has ended.
    private func hasResult(_ flow: FlowFixture) throws -> Bool {
      if try finishedSteps(flow).isEmpty { return false }
      let connection = try SQLiteConnection.open(
        flow.folder.path + "/.flow/f/state.sqlite", for: .writing,
        SQLiteConfiguration(access: .existing, durability: .normal))
      return try !connection.fetchAll("SELECT number FROM flow_run WHERE state = 'succeeded'") {
        $0.text(at: 0)
      }.isEmpty
    }

    /// The processes that have the mark of the flow in their environment.
    private func marked(by flow: FlowFixture) -> [Int32] {
      let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
      let mark = Data("COOP_FLOW=f@\(flow.folder.path)/".utf8)
      return names.compactMap { Int32($0) }.filter { process in
        let data = try? Data(contentsOf: URL(fileURLWithPath: "/proc/\(process)/environ"))
        return data?.range(of: mark) != nil
      }
    }
  }

  /// The outputs in a folder, each with the number of the process that made it.
  private struct MadeOutputs: Sendable {
    let path: String

    init(_ path: String) { self.path = path }

    var names: Set<String> { Set(counts.keys) }

    var counts: [String: Int] {
      let files = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
      return Dictionary(
        files.map { (String($0.prefix { $0 != "." }), 1) }, uniquingKeysWith: +)
    }
  }
#endif
