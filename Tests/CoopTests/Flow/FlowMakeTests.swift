import CompositeOperations
import Foundation
import TestSupport
import Testing

#if os(Linux)
  /// Random graphs of targets, as a Makefile and as a flow file, in two folders with the same sources.
  /// After edits, touches, removals, failures and kills, both have the same outputs.
  @Suite(.timeLimit(.minutes(30))) struct FlowMakeTests {
    /// The number of programs: `COMPOSITE_FLOW_PROGRAMS`, or a few.
    private static var count: Int {
      let environment = ProcessInfo.processInfo.environment
      return environment["COMPOSITE_FLOW_PROGRAMS"].flatMap { Int($0) }
        ?? (environment["COMPOSITE_TEST_DEPTH"] == "full" ? 12 : 4)
    }

    /// The name begins with no rule, because the mutation check would run it at full depth for each
    /// mutant.
    @Test(.timeLimit(.minutes(600)))
    func `random programs end with the outputs of make`() async throws {
      guard let make = Program.installed("make") else { return }
      let environment = ProcessInfo.processInfo.environment
      let seed = environment["COMPOSITE_FLOW_SEED"].flatMap { UInt64($0) } ?? .random(in: 0...9_999)
      print("flow and make: COMPOSITE_FLOW_SEED=\(seed)")
      var totals = MakeProgram.Totals()
      for index in 0..<Self.count {
        var random = OperationRandomness.seeded(seed &+ UInt64(index))
        var program = try MakeProgram(make, &random)
        try await program.run(&random)
        totals.add(program.totals)
        guard program.differences.isEmpty else {
          Issue.record(
            """
            COMPOSITE_FLOW_SEED=\(seed &+ UInt64(index)): \(program.differences.joined(separator: "; "))
            \(program.log.joined(separator: "\n"))
            """)
          return
        }
      }
      print("flow and make: \(Self.count) programs, \(totals)")
    }
  }

  /// A graph with its two folders, and what was done to them.
  private struct MakeProgram {
    struct Totals: CustomStringConvertible {
      var rounds = 0
      var failures = 0
      var kills = 0
      var targets = 0

      mutating func add(_ other: Totals) {
        rounds += other.rounds
        failures += other.failures
        kills += other.kills
        targets += other.targets
      }

      var description: String {
        "\(rounds) rounds, \(failures) with failures, \(kills) kills, \(targets) targets"
      }
    }

    private let make: Program
    private let flow: FlowFixture
    private let folder: TemporaryFolder
    private let targetCount: Int
    private let sourceCount: Int
    /// Whether the flow runs fewer steps than make: not after a touch, and not for equal contents.
    private let comparesContents: Bool
    private(set) var totals = Totals()
    private(set) var differences: [String] = []
    private(set) var log: [String] = []

    private var folders: [String] { [folder.path, flow.folder.path] }

    init(_ make: Program, _ random: inout OperationRandomness) throws {
      let most = Int.random(in: 10...60, using: &random)
      let (targetCount, sourceCount) = (
        Int.random(in: 10...most, using: &random), Int.random(in: 1...12, using: &random)
      )
      (self.targetCount, self.sourceCount) = (targetCount, sourceCount)
      self.make = make
      folder = try TemporaryFolder()
      var rules = "all:"
      for target in 0..<targetCount { rules += " t\(target)" }
      var steps: [String] = []
      for target in 0..<targetCount {
        let sources = Set(
          (0..<Int.random(in: 0...2, using: &random)).map { _ in
            Int.random(in: 0..<sourceCount, using: &random)
          }
        ).sorted().map { "s\($0)" }
        let needs = Set(
          (0..<(target == 0 ? 0 : Int.random(in: 0...3, using: &random))).map { _ in
            Int.random(in: 0..<target, using: &random)
          }
        ).sorted().map { "t\($0)" }
        let inputs = sources + needs
        // It is killed before it begins its output, or after it has made it.
        func kill(_ when: String) -> String {
          "if test -e \(when)-\(target); then rm \(when)-\(target); kill -9 $PPID $$; fi"
        }
        let text = """
          test ! -e fail-\(target); \(kill("kill")); cat \(inputs.joined(separator: " ")) /dev/null \
          > t\(target); echo t\(target) >> t\(target); \(kill("late"))
          """
        rules += "\nt\(target): \(inputs.joined(separator: " "))\n\t@set -eu; "
        rules += text.replacing("$", with: "$$")
        func list(_ names: [String]) -> String {
          "[" + names.map { "\"\($0)\"" }.joined(separator: ", ") + "]"
        }
        steps.append(
          """
          "t\(target)": {"run": "\(text)", "needs": \(list(needs)), "inputs": \(list(inputs)),
            "outputs": ["t\(target)"]}
          """)
      }
      comparesContents = Bool.random(using: &random)
      let comparison = comparesContents ? "content" : "stamp"
      flow = try FlowFixture(
        steps.joined(separator: ",\n"), head: #""width": 2, "compare": "\#(comparison)","#)
      try folder.write(rules + "\n", to: "Makefile")
      for source in 0..<sourceCount { try write("\(source)\n", to: "s\(source)") }
    }

    private func write(_ text: String, to name: String) throws {
      for folder in folders {
        let url = URL(fileURLWithPath: folder + "/" + name)
        if let file = FileHandle(forWritingAtPath: url.path) {
          try file.seekToEnd()
          try file.write(contentsOf: Data(text.utf8))
          try file.close()
        } else {
          try Data(text.utf8).write(to: url)
        }
      }
    }

    private func remove(_ name: String) throws {
      for folder in folders where FileManager.default.fileExists(atPath: folder + "/" + name) {
        try FileManager.default.removeItem(atPath: folder + "/" + name)
      }
    }

    /// Waits until the clock of the file system has moved: make compares times, and those of files that
    /// are written in the same tick are equal.
    private func tick() throws {
      let path = folder.path + "/tick"
      func time() throws -> Date? {
        try Data().write(to: URL(fileURLWithPath: path))
        let values = try URL(fileURLWithPath: path).resourceValues(
          forKeys: [.contentModificationDateKey])
        return values.contentModificationDate
      }
      let first = try time()
      while try time() == first { usleep(500) }
    }

    // MARK: Rounds

    mutating func run(_ random: inout OperationRandomness) async throws {
      totals.targets = targetCount
      _ = try await round(allows: false)
      for _ in 0..<Int.random(in: 2...6, using: &random) where differences.isEmpty {
        try tick()
        for _ in 0..<Int.random(in: 0...3, using: &random) { try edit(&random) }
        try tick()
        let kills = Int.random(in: 0..<4, using: &random) == 0
        let fails = Int.random(in: 0..<3, using: &random) == 0
        if kills {
          let when = Bool.random(using: &random) ? "kill" : "late"
          let target = Int.random(in: 0..<targetCount, using: &random)
          log.append("\(when) t\(target)")
          try write("", to: "\(when)-\(target)")
          try await killed()
          try remove("\(when)-\(target)")
          // The user corrects a source before the command is repeated.
          try tick()
          if Bool.random(using: &random) { try edit(&random) }
          try tick()
        }
        if fails {
          let target = Int.random(in: 0..<targetCount, using: &random)
          log.append("fail t\(target)")
          try write("", to: "fail-\(target)")
          // After a kill, what a failed step leaves depends on which steps had ended before it. A step
          // that fails only if it runs fails in make alone.
          try await round(allows: true, compares: !kills && !comparesContents)
          try remove("fail-\(target)")
          try tick()
          if Bool.random(using: &random) { try edit(&random) }
          try tick()
        }
        if differences.isEmpty { try await round(allows: false) }
      }
    }

    /// Changes a source, or removes a target.
    private mutating func edit(_ random: inout OperationRandomness) throws {
      let source = "s\(Int.random(in: 0..<sourceCount, using: &random))"
      switch Int.random(in: 0..<4, using: &random) {
      case 0, 1:
        log.append("append to \(source)")
        try write("x\n", to: source)
      case 2:
        log.append("touch \(source)")
        for folder in folders {
          try FileManager.default.setAttributes(
            [.modificationDate: Date()], ofItemAtPath: folder + "/" + source)
        }
      default:
        let target = "t\(Int.random(in: 0..<targetCount, using: &random))"
        log.append("remove \(target)")
        try remove(target)
      }
    }

    private func make(_ arguments: String...) async throws -> ProgramResult {
      var program = make
      program.arguments = ["-s", "-C", folder.path] + arguments
      return try await program.run()
    }

    /// Runs both until a command kills them.
    private mutating func killed() async throws {
      // With more jobs, another command of the killed make would run beside the next one.
      let made = try await make("-j1", "all")
      let flowed = try await flow.run()
      let kills = [made, flowed].count { $0.status == SIGKILL }
      log.append("killed: make \(made.status), flow \(flowed.status)")
      totals.kills += kills
    }

    /// Runs both, and compares the outputs.
    private mutating func round(
      allows failure: Bool, compares: Bool = true
    ) async throws {
      totals.rounds += 1
      let made = try await make("-j2", "-k", "all")
      let flowed = try await flow.run("--keep-going")
      log.append(
        "make \(made.status), flow \(flowed.status): \(flowed.ends.joined(separator: ", "))")
      if made.status != 0 { totals.failures += 1 }
      let isDifferent = compares && (made.status == 0) != (flowed.status == 0)
      if isDifferent || made.status != 0 && !failure {
        differences.append(
          "make \(made.status) \(made.error), flow \(flowed.status) \(flowed.error)")
      }
      for target in 0..<targetCount where compares {
        let texts = folders.map { try? Data(contentsOf: URL(fileURLWithPath: "\($0)/t\(target)")) }
        if texts[0] != texts[1] { differences.append("t\(target) differs") }
      }
    }
  }
#endif
