import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct CompletionTests {
  private static let commands = [
    "cluster-demo", "completion", "flow", "journal", "records", "worker",
  ]
  private static let files = ["a folder", "other.txt", "some file.txt"]

  private static let cases: [(line: String, candidates: [String])] = [
    ("coop ", commands),
    ("coop jo", ["journal"]),
    ("coop unknown ", []),
    ("coop completion ", ["bash", "fish", "zsh"]),
    ("coop completion bash ", []),
    // Actions, before and after a position.
    ("coop records ", ["export", "import", "mirror", "query", "tables"]),
    ("coop records mi", ["mirror"]),
    ("coop journal ", files),
    (
      "coop journal runs.sqlite ",
      ["cancel", "check", "copy", "forget", "init", "list", "retry", "send", "serve", "show"]
    ),
    ("coop journal postgresql://flows@db/app sh", ["show"]),
    ("coop flow ", ["log", "run", "runs", "schema", "show", "status"]),
    // Options, and their values.
    ("coop flow run --js", ["--json"]),
    ("coop flow run --state ", files),
    ("coop flow run --state x --st", ["--state"]),
    ("coop journal runs.sqlite show -- --js", []),
    ("coop flow run --ti", ["--timeline"]),
    ("coop journal runs.sqlite list --state r", ["ready", "result", "running"]),
    ("coop journal runs.sqlite list --flow ", []),
    ("coop journal runs.sqlite show --li", ["--live"]),
    ("coop journal runs.sqlite retry 7 --fr", ["--from"]),
    ("coop records export f.sqlite books --format ", ["csv", "json", "jsonl"]),
    ("coop records export --format csv f.sqlite books --to so", ["some file.txt"]),
    ("coop records export f.sqlite books --ex", []),
    ("coop records import f.sqlite books --ex", ["--existing"]),
    ("coop records mirror a b --deletions ", ["lose", "win"]),
    ("coop records tables postgresql://u@h/d --sc", ["--schema"]),
    ("coop records import postgresql://u@h/d t x.csv --sc", ["--schema"]),
    ("coop flow run release.yaml --set version=1.4.0 --dr", ["--dry-run"]),
    ("coop flow run release.yaml --from ", []),
    // Positions.
    ("coop flow run ", files),
    ("coop flow run so", ["some file.txt"]),
    (#"coop flow run some\ f"#, ["some file.txt"]),
    (#"coop flow run a\ folder/"#, ["a folder/inner.txt"]),
    ("coop records mirror other.txt --once o", ["other.txt"]),
    ("coop cluster-demo ", []),
    ("coop records query ", files),
    ("coop records query f.sqlite ", []),
    ("coop records import f.sqlite books ", files),
    ("coop records mirror a ", files),
    ("coop records mirror a b ", []),
    ("coop flow log ", files),
    ("coop flow log release.yaml ", []),
  ]

  @Test(.timeLimit(.minutes(10)), arguments: CompletionShell.all)
  func `a shell completes commands, actions, options, values and files`(shell: CompletionShell)
    async throws
  {
    let folder = try TemporaryFolder()
    for file in ["a folder/inner.txt", "other.txt", "some file.txt"] {
      try folder.write("", to: file)
    }
    let completed = try await shell.complete(Self.cases.map(\.line), in: folder)
    #expect(completed.count == Self.cases.count)
    for (expected, candidates) in zip(Self.cases, completed) {
      #expect(candidates == expected.candidates, "\(expected.line)")
    }
  }

  @Test func `bash completes a name after a colon, and quotes a semicolon`() async throws {
    let folder = try TemporaryFolder()
    try folder.write("", to: "12:30 report.txt")
    let completed = try await CompletionShell.bash.complete(
      [
        "coop flow run 12:3", #"coop flow run "12:3"#,
        "coop records import f.sqlite books x.csv --delimiter ",
      ], in: folder)
    // The part before the colon remains on the line, unless it is in quotes.
    #expect(completed == [["30 report.txt"], ["12:30 report.txt"], ["';'", ",", "tab"]])
  }

  // MARK: - Flow files

  private static let flow = #"""
    {"flow": "f", "values": {"version": "1", "target": null},
      "steps": {"a": {"run": "true", "outputs": ["${target}"]}, "build": {"run": "true"},
        "build-docs": {"run": "true", "manual": "true"}}}
    """#

  /// A folder with flow files, and with files that are none.
  private static func folderWithFlows() throws -> TemporaryFolder {
    let folder = try TemporaryFolder()
    for name in ["f.json", "it's $(touch x) \"1:2\" \\.json", "folder/f.json"] {
      try folder.write(flow, to: name)
    }
    try folder.write(flow.replacing("true", with: "", maxReplacements: 1), to: "invalid.json")
    unsafe mkfifo(folder.path + "/pipe.json", 0o600)
    return folder
  }

  private static let steps = ["a", "build", "build-docs"]

  private static let flowCases: [(line: String, candidates: [String])] = [
    ("coop flow run f.json ", steps),
    ("coop flow run f.json bu", ["build", "build-docs"]),
    ("coop flow run f.json a --keep-going b", ["build", "build-docs"]),
    ("coop flow run folder/f.json --only ", steps),
    ("coop flow run --fresh f.json --from build-", ["build-docs"]),
    ("coop flow run --state x f.json --set ", ["target=", "version="]),
    ("coop flow run f.json --set v", ["version="]),
    ("coop flow run f.json --set version=", []),
    ("coop flow run f.json --set version=1", []),
    ("coop flow log f.json ", steps),
    ("coop flow log f.json a ", []),
    // As zsh and fish write such names.
    (#"coop flow run it\'s\ \$\(touch\ x\)\ \"1:2\"\ \\.json b"#, ["build", "build-docs"]),
    ("coop flow run invalid.json ", []),
    ("coop flow run folder ", []),
    ("coop flow run missing.json ", []),
    ("coop flow run pipe.json ", []),
    ("coop flow run --only ", []),
  ]

  @Test(.timeLimit(.minutes(10)), arguments: CompletionShell.all)
  func `L12: a shell completes the steps and values of a flow file`(shell: CompletionShell)
    async throws
  {
    let folder = try Self.folderWithFlows()
    let completed = try await shell.complete(Self.flowCases.map(\.line), in: folder)
    for (expected, candidates) in zip(Self.flowCases, completed) {
      #expect(candidates == expected.candidates, "\(expected.line)")
    }
    #expect(completed.count == Self.flowCases.count)
    #expect(try !folder.names().contains("x"))
  }

  @Test func `L12: bash reads the name of a flow file in quotes, and runs no command of the line`()
    async throws
  {
    let folder = try Self.folderWithFlows()
    let lines = [
      #"coop flow run "f.json" bu"#, "coop flow run 'f.json' bu", #"coop flow run f"."j's'on bu"#,
      #"coop flow run "it's \$(touch x) \"1:2\" \\.json" bu"#,
      #"coop flow run 'it'\''s $(touch x) "1:2" \.json' bu"#,
      #"coop flow run "it's $(touch x) \"1:2\" \.json" bu"#,
    ]
    let completed = try await CompletionShell.bash.complete(lines, in: folder)
    #expect(completed == lines.map { _ in ["build", "build-docs"] })
    #expect(try !folder.names().contains("x"))
    let home = "~/\(UUID().uuidString).json"
    let file = (home as NSString).expandingTildeInPath
    try Self.flow.write(toFile: file, atomically: false, encoding: .utf8)
    defer { try? FileManager.default.removeItem(atPath: file) }
    let printed = try await CompletionShell.bash.complete(["coop flow run \(home) a"], in: folder)
    #expect(printed == [["a"]])
  }

  @Test func `L12: of a file that is not a valid flow file, no names are completed`() async throws {
    let folder = try Self.folderWithFlows()
    for (name, status) in [("f.json", Int32(0)), ("invalid.json", 1), ("pipe.json", 1), ("x", 1)] {
      let printed = try await Program.coop("completion", "steps", name, in: folder.url).run()
      #expect(printed.status == status, "\(name)")
      #expect(printed.text == (status == 0 ? "a\nbuild\nbuild-docs\n" : ""))
      #expect(printed.error.isEmpty)
    }
  }

  // MARK: - The table and the commands

  @Test func `the completions are the commands and the actions of the usage texts`() async throws {
    let table = try await TableOfCompletions()
    let usage = try await Program.coop("--help").run().text
    let commands = usage.matches(of: #/\n  ([a-z-]+) /#).map { String($0.1) }
    #expect(table.commands.sorted() == commands.sorted())
    for command in commands {
      let usage = try await Program.coop(command, "--help").run().text
      #expect(table.actions[command] == UsageText(usage).actions(of: command), "\(command)")
    }
  }

  @Test func `the completions are the options of the usage texts, with and without values`()
    async throws
  {
    let table = try await TableOfCompletions()
    for command in table.commands {
      let printed = try await Program.coop(command, "--help").run()
      #expect(printed.status == 0, "\(command)")
      var options = table.options["coop \(command)"] ?? [:]
      for action in table.actions[command] ?? [] where command != "completion" {
        let line = table.line(command, action)
        let own = try await Program.coop(command, action, "--help").run().text
        if own == printed.text {
          options.merge(table.options[line] ?? [:]) { $0 || $1 }
        } else {
          #expect(table.options[line] == UsageText(own).options, "\(line)")
        }
      }
      #expect(options == UsageText(printed.text).options, "\(command)")
    }
  }

  @Test func `the completions of an action are the options that its message lists`() async throws {
    let table = try await TableOfCompletions()
    for (line, options) in table.options where !line.hasPrefix("coop flow") {
      var program = Program.coop()
      program.arguments = line.split(separator: " ").dropFirst().map(String.init) + ["--unknown"]
      if line == "coop cluster-demo" { program.arguments.insert("postgresql://u@h/d", at: 1) }
      if ["coop worker", "coop journal"].contains(line) {
        program.arguments.insert("runs.sqlite", at: 1)
      }
      let printed = try await program.run()
      #expect(printed.status == 64)
      let listed = printed.error.matches(of: /--[a-z][a-z-]*/).map { String($0.0) }
      #expect(Set(listed).subtracting(["--unknown"]) == Set(options.keys), "\(line)")
    }
  }

  @Test(.timeLimit(.minutes(10)), arguments: CompletionShell.all)
  func `all shells complete the same options`(shell: CompletionShell) async throws {
    let table = try await TableOfCompletions()
    let other = try await TableOfCompletions(of: shell)
    #expect(other.actions == table.actions)
    if shell.description == "fish" {
      // It also completes options where a value is expected.
      #expect(other.options.mapValues { Set($0.keys) } == table.options.mapValues { Set($0.keys) })
    } else {
      #expect(other.options == table.options)
    }
  }

  // MARK: - The command

  @Test(arguments: [
    ([], "no shell; expected bash, zsh or fish"),
    (["tcsh"], "unknown shell tcsh; expected bash, zsh or fish"),
    (["bash", "zsh"], "unexpected argument zsh; expected one shell"),
    (["steps"], "steps with other arguments than a file; expected FILE"),
    (["values", "a", "b"], "values with other arguments than a file; expected FILE"),
  ])
  func `invalid arguments are reported in one line with the expected ones`(
    arguments: [String], message: String
  ) async throws {
    var program = Program.coop("completion")
    program.arguments += arguments
    let printed = try await program.run()
    #expect(printed.status == 64)
    #expect(printed.output.isEmpty)
    #expect(printed.error == "coop: completion: \(message)\n")
  }
}

/// The commands, actions and options that a shell completes.
private struct TableOfCompletions {
  let commands: [String]
  /// The sorted actions of each command.
  private(set) var actions: [String: [String]] = [:]
  /// Whether each option has a value, by the words that precede the options.
  private(set) var options: [String: [String: Bool]] = [:]

  init(of shell: CompletionShell = .bash) async throws {
    // Without files, only words are completed.
    let folder = try TemporaryFolder()
    commands = try await shell.complete(["coop "], in: folder).joined().map { $0 }
    let first = try await shell.complete(commands.map { "coop \($0) " }, in: folder)
    let second = try await shell.complete(commands.map { "coop \($0) x " }, in: folder)
    for (command, candidates) in zip(commands, zip(first, second)) {
      actions[command] = (candidates.0 + candidates.1).filter { !$0.hasPrefix("-") }.sorted()
    }
    let lines = commands.flatMap { command in
      let actions = command == "completion" ? [] : actions[command] ?? []
      return ["coop \(command)"] + actions.map { line(command, $0) }
    }
    let found = try await shell.complete(lines.map { "\($0) --" }, in: folder)
    let pairs = zip(lines, found).flatMap { line, options in
      options.filter { !["--", "--help"].contains($0) }.map { (line: line, option: $0) }
    }
    // After an option with a value, a word with a hyphen is its value.
    let values = try await shell.complete(pairs.map { "\($0.line) \($0.option) --" }, in: folder)
    options = Dictionary(uniqueKeysWithValues: lines.map { ($0, [:]) })
    for (pair, candidates) in zip(pairs, values) {
      options[pair.line]?[pair.option] = candidates.isEmpty
    }
  }

  /// The words that select an action.
  func line(_ command: String, _ action: String) -> String {
    command == "journal" ? "coop journal x \(action)" : "coop \(command) \(action)"
  }
}

/// The text of `coop COMMAND --help`.
private struct UsageText {
  private let text: String

  init(_ text: String) { self.text = text }

  /// The sorted words that follow a command and its positions, as in `STORE list` or `bash|zsh`.
  func actions(of command: String) -> [String] {
    let lines = text.split(separator: "\n").filter { $0.contains(#/^(usage:|      ) coop /#) }
    let words = lines.compactMap { line in
      line.split(separator: " ").drop { $0 != command }.dropFirst()
        .first { !$0.contains(/^[A-Z]/) }
    }
    let actions = words.filter { $0.contains(/^[a-z|]+$/) }.flatMap { $0.split(separator: "|") }
    return Set(actions.map(String.init)).sorted()
  }

  /// Whether each option has a value. Options are in brackets, or at the beginning of a line.
  var options: [String: Bool] {
    let inBrackets = text.matches(of: /\[(--[a-z][a-z-]*)( [^\]]+)?\]/)
    let atBeginnings = text.matches(of: /\n +(--[a-z][a-z-]*)( [a-z]*[A-Z=][A-Za-z,=]*)?(?=[ \n])/)
    let all = (inBrackets + atBeginnings).map { (String($0.output.1), $0.output.2 != nil) }
    return Dictionary(all) { $0 || $1 }
  }
}
