import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct FlowInputTests {
  @Test func `L15: a name in inputs that does not exist is an error before a step begins`()
    async throws
  {
    let flow = try FlowFixture(
      """

      "first": {"run": "touch began"},
      "typo": {"run": "cat data/a.txt > o1", "inputs": ["data/aa.txt"], "outputs": ["o1"]},
      "each": {"each": ["x", "y"], "run": "true", "inputs": ["${each}.c", "{a,b}.h", "[q]*"]},
      "made": {"run": "true", "inputs": ["1a.o", "d1/x"], "needs": ["make"]},
      "make": {"run": "true", "outputs": ["${each}*.o", "d${each}"], "each": ["1"]}
      """)
    for name in ["data/a.txt", "x.c", "b.h"] { try flow.folder.write("", to: name) }
    for arguments in [[], ["--dry-run"]] {
      let printed = try await flow.program(["run", "f.json"] + arguments).run()
      #expect(printed.status == 1)
      #expect(
        printed.error == """
          f.json:3:51: input 'data/aa.txt' of step 'typo' does not exist, and no step makes it; did you mean 'a.txt'?
          f.json:4:56: input 'y.c' of step 'each' does not exist, and no step makes it; did you mean 'x.c'?
          f.json:4:69: input 'a.h' of step 'each' does not exist, and no step makes it; did you mean 'b.h'?

          """)
    }
    #expect(!flow.exists("began"))
  }

  @Test func `L3: missing inputs are reported together with unknown keys`() async throws {
    let flow = try FlowFixture(
      """

      "a": {"run": "true", "comment": "x", "inputs": ["a.txt"]},
      "b": {"each": ["x", "y"], "run": "true", "inputs": ["${each}.c"], "need": ["c"]},
      "c": {"run": "true", "manual": "true", "inputs": ["c.txt"]}
      """)
    try flow.folder.write("", to: "x.c")
    func errors(_ arguments: String...) async throws -> [String] {
      let printed = try await flow.program(["run", "f.json"] + arguments).run()
      #expect(printed.status == 1)
      return printed.error.split(separator: "\n").map { line in
        line.split(separator: ": ").dropFirst().joined(separator: ": ")
          .split(separator: ";").first.map(String.init) ?? ""
      }
    }
    let keys = ["unknown key 'comment' in step 'a'", "unknown key 'need' in step 'b'"]
    let missing = ["a.txt' of step 'a'", "y.c' of step 'b'", "c.txt' of step 'c'"].map {
      "input '\($0) does not exist, and no step makes it"
    }
    let all = [keys[0], missing[0], missing[1], keys[1]]
    #expect(try await errors() == all)
    #expect(try await errors("--dry-run") == all)
    // Only those of the steps that would run.
    #expect(try await errors("a", "c") == [keys[0], missing[0], keys[1], missing[2]])
    // Without a run, they need not exist.
    let shown = try await flow.flow("show", "f.json")
    #expect(shown.error.split(separator: "\n").count == 2, "\(shown.error)")
    // A misspelt key may have the outputs.
    try flow.write(
      #""a": {"run": "true", "output": ["x"]}, "b": {"run": "true", "inputs": ["x"], "needs": ["a"]}"#
    )
    #expect(try await errors() == ["unknown key 'output' in step 'a'"])
  }

  @Test func `L15: an input that a step can make need not exist before the run`() async throws {
    let flow = try FlowFixture(
      """
      "make": {"run": "mkdir -p d w; touch a.o d/x w/y; printf '1\\\\n2\\\\n'",
        "outputs": ["?.o", "d", "w/y"]},
      "lines": {"each": {"lines-of": "make"}, "run": "touch l$each.z", "outputs": ["l${each}.z"]},
      "use": {"run": "true", "inputs": ["a.o", "d/x", "w", "l1.z"], "needs": ["make", "lines"]}
      """)
    #expect(try await flow.run("--dry-run").status == 0)
    let printed = try await flow.run()
    #expect(printed.status == 0, "\(printed.error)")
  }

  @Test func `L15: an input that is missing when its step begins fails the step`() async throws {
    let flow = try FlowFixture(
      """
      "names": {"run": "printf 'x\\\\ny\\\\n'"},
      "a": {"each": {"lines-of": "names"}, "run": "touch $each.o", "inputs": ["${each}.c"]},
      "make": {"run": "true", "outputs": ["*.h"]},
      "b": {"run": "touch b", "inputs": ["b.h"], "needs": ["make"], "retries": 2}
      """)
    try flow.folder.write("", to: "x.c")
    let printed = try await flow.run("--keep-going")
    #expect(printed.status == 1)
    #expect(flow.exists("x.o") && !flow.exists("y.o") && !flow.exists("b"))
    #expect(printed.ends.contains("a[y]: failed, its input 'y.c' does not exist"))
    #expect(printed.ends.contains("b: failed, its input 'b.h' does not exist"))
  }

  @Test func `L15: a folder in inputs and outputs is all files below it`() async throws {
    let flow = try FlowFixture(
      """
      "a": {"run": "mkdir -p out/deep; cat data/sub/x > out/deep/.x", "inputs": ["data"],
        "outputs": ["out"]}
      """)
    try flow.folder.write("1", to: "data/sub/x")
    try flow.folder.write("1", to: "other/y")
    _ = try flow.folder.link("data/sub/link", to: "../../other")
    #expect(try await flow.run().status == 0)
    // Links are not followed.
    try flow.folder.write("1", to: "other/z")
    #expect(try await flow.run("--dry-run").text == "nothing would run\n")
    try flow.folder.write("22", to: "data/sub/x")
    #expect(try await flow.run("--dry-run").text == "a: data/sub/x is newer\n")
    #expect(try await flow.run().status == 0)
    try flow.folder.write("", to: "data/.hidden")
    #expect(try await flow.run("--dry-run").text == "a: data/.hidden is new\n")
    try flow.remove("data/.hidden")
    try flow.remove("out/deep/.x")
    #expect(try await flow.run("--dry-run").text == "a: its output out/deep/.x was removed\n")
    try flow.remove("data/sub/x")
    try flow.remove("out")
    #expect(try await flow.run("--dry-run").text == "a: its output out is missing\n")
  }

  @Test func `L15: a path is the same file however it is written`() async throws {
    let flow = try FlowFixture("")
    let path = flow.folder.path
    try flow.folder.write("", to: "real/data/keep")
    for (name, target) in [("link", "real/data"), ("again", "link"), ("out", "real/data")] {
      _ = try flow.folder.link(name, to: target)
    }
    _ = try flow.folder.link("real/up", to: path)
    let outputs: [(folder: String?, name: String)] = [
      (nil, "real/data/x"), ("link", "x"), (nil, "\(path)/again/x"), ("\(path)/real", "./data//x"),
      (nil, "link/../data/x"), (nil, "real/up/link/x"),
    ]
    func members(_ file: (folder: String?, name: String), _ key: String) -> String {
      (file.folder.map { #""in": "\#($0)", "# } ?? "") + #""\#(key)": ["\#(file.name)"]"#
    }
    for output in outputs {
      let make = #""make": {"run": "true", \#(members(output, "outputs"))}"#
      for (needs, status) in [(#""needs": ["make"], "#, 0), ("", 1)] {
        let users = outputs.enumerated().map { index, input in
          #""u\#(index)": {"run": "true", \#(needs)\#(members(input, "inputs"))}"#
        }
        try flow.write(([make] + users).joined(separator: ", "))
        let plan = try await flow.run("--dry-run")
        #expect(plan.status == Int32(status), "\(plan.error)")
        #expect(plan.error.split(separator: "add needs: [make]\n").count == status * outputs.count)
      }
      try flow.write("\(make), " + #""b": {"run": "true", "outputs": ["real/data/x"]}"#)
      #expect(try await flow.run("--dry-run").error.contains("of steps 'make' and 'b'"))
    }
    // A step makes the link, or writes to its folder.
    for (output, input) in [("out", "out/x"), ("out", "real/data/x")] {
      try flow.write(
        """
        "make": {"run": "true", "outputs": ["\(output)"]},
        "use": {"run": "true", "inputs": ["\(input)"], "needs": ["make"]}
        """)
      #expect(try await flow.run("--dry-run").status == 0)
    }
  }

  @Test func `L15: a pattern finds folders, which are all files below in inputs`() async throws {
    let flow = try FlowFixture(
      """
      "a": {"each": "data/*", "run": ["sh", "-c", "echo ${each} >> a"], "locks": ["l"]},
      "b": {"each": "data/*/", "run": ["sh", "-c", "echo ${each} >> b"]},
      "c": {"run": "touch c", "inputs": ["data/*"], "outputs": ["c"]},
      "d": {"run": "touch d", "inputs": ["data/**"], "outputs": ["d"]}
      """)
    for name in ["data/sub/x", "data/f"] { try flow.folder.write("", to: name) }
    #expect(try await flow.run().status == 0)
    #expect(flow.lines("a").sorted() == ["data/f", "data/sub"] && flow.lines("b") == ["data/sub/"])
    try flow.folder.write("1", to: "data/sub/.x")
    #expect(
      try await flow.run("--dry-run").text == """
        a: a[data/f]: it has no outputs
        b: b[data/sub/]: it has no outputs
        c: data/sub/.x is new
        1 step is current

        """)
  }

  @Test func `L15: an output that the commands do not make fails the attempt`() async throws {
    let flow = try FlowFixture(
      """
      "never": {"run": "echo x >> tries", "outputs": ["d/${v}", "*.never"], "retries": 1},
      "second": {"run": "if test -e once; then touch made; fi; touch once", "outputs": ["made"],
        "retries": 1},
      "none": {"run": "true", "outputs": ["{a,b}*.nothing", "[q]"]}
      """, head: #""values": {"v": "[n].txt"},"#)
    let printed = try await flow.run("--keep-going")
    #expect(printed.status == 1)
    #expect(flow.lines("tries").count == 2)
    #expect(printed.ends.contains("never: failed, it succeeded and did not make 'd/[n].txt'"))
    #expect(printed.ends.contains("second: succeeded") && printed.ends.contains("none: succeeded"))
    let plan = try await flow.run("--dry-run").text
    #expect(plan == "never: it has not succeeded yet\n2 steps are current\n")
  }

  @Test func `L15: inputs with patterns of every kind are watched`() async throws {
    let flow = try FlowFixture(
      """
      "brace": {"run": "cat data/*.txt data/*.md > o3", "inputs": ["data/*.{txt,md}"],
        "outputs": ["o3"]},
      "question": {"run": "cat data/?.txt > o4", "inputs": ["data/?.txt"], "outputs": ["o4"]},
      "set": {"run": "cat data/[!x].md > o5", "inputs": ["data/[!x].md"], "outputs": ["o5"]},
      "each": {"each": "data/*.{csv,json}", "run": "touch $each.ran", "outputs": ["${each}.ran"]}
      """)
    for name in ["a.txt", "a.md", "b.json"] { try flow.folder.write("1", to: "data/\(name)") }
    #expect(try await flow.run().status == 0)
    #expect(flow.exists("data/b.json.ran"))
    #expect(try await flow.run("--dry-run").text == "nothing would run\n")
    try flow.folder.write("22", to: "data/a.md")
    try flow.folder.write("", to: "data/c.csv")
    #expect(
      try await flow.run("--dry-run").text == """
        brace: data/a.md is newer
        set: data/a.md is newer
        each: each[data/c.csv]: it has not succeeded yet
        1 step is current

        """)
  }

  @Test func `L15: a folder that cannot be read is an error that names it`() async throws {
    let flow = try FlowFixture(
      #""a": {"run": "true"}, "b": {"each": "data/*/*.txt", "run": "true"}"#)
    try flow.folder.write("", to: "data/secret/x.txt")
    let manager = FileManager.default
    try manager.setAttributes(
      [.posixPermissions: 0], ofItemAtPath: flow.folder.path + "/data/secret")
    defer {
      try? manager.setAttributes(
        [.posixPermissions: 0o755], ofItemAtPath: flow.folder.path + "/data/secret")
    }
    try manager.setAttributes([.posixPermissions: 0o777], ofItemAtPath: flow.folder.path)
    guard
      let program = try await flow.program(["run", "f.json", "--dry-run"])
        .withoutPrivileges(copiedTo: flow.folder)
    else { return }
    let printed = try await program.run()
    #expect(printed.status == 1)
    #expect(
      printed.error
        == "coop flow: step 'b': 'data/secret' cannot be read: Permission denied\n")
  }

  @Test func `L15: outputs that only the files show to overlap fail the run`() async throws {
    let flow = try FlowFixture(
      """
      "names": {"run": "cat names", "inputs": ["names"], "outputs": ["./names.log"]},
      "a": {"each": {"lines-of": "names"}, "outputs": ["${each}/x.txt"], "run": "mkdir -p $each; touch $each/x.txt"},
      "b": {"outputs": ["d/x*"], "run": "mkdir -p d; touch d/x.txt", "needs": ["a"]}
      """)
    try flow.folder.write("", to: "names.log")
    try flow.folder.write("c\n", to: "names")
    #expect(try await flow.run().status == 0)
    try flow.folder.write("c\nd\n", to: "names")
    let path = flow.folder.url.resolvingSymlinksInPath().path
    let message =
      "\(path)/d/x.txt is an output of 'a[d]' and of 'b', so that each of them changes the output of the other; give "
      + "them different folders or names\n"
    // It stays an error, also if nothing is left to do.
    for _ in 1...3 {
      let printed = try await flow.run()
      #expect(printed.status == 1)
      #expect(printed.error.contains(message), "\(printed.error)")
    }
    #expect(try await flow.flow("status", "f.json").text.contains(": failed\n"))
    try flow.folder.write("c\n", to: "names")
    let corrected = try await flow.run()
    #expect(corrected.status == 0, "\(corrected.error)")
  }

  @Test func `L6: a file that replaces another one with the same time and size has changed`()
    async throws
  {
    let flow = try FlowFixture(
      #""a": {"run": "touch out", "inputs": ["in"], "outputs": ["out"]}"#)
    let manager = FileManager.default
    let time = Date(timeIntervalSince1970: 1_700_000_000)
    for name in ["in", "new"] {
      let file = try flow.folder.write(name == "in" ? "1" : "2", to: name)
      try manager.setAttributes([.modificationDate: time], ofItemAtPath: file.path)
    }
    #expect(try await flow.run().status == 0)
    try flow.remove("in")
    try manager.moveItem(at: flow.folder["new"], to: flow.folder["in"])
    #expect(flow.text("in") == "2")
    #expect(
      try await flow.run("--dry-run").text
        == "a: in is another file with the same size and time, such as a copy\n")
  }
}
