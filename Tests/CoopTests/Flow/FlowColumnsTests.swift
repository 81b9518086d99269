import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct FlowColumnsTests {
  @Test func `L18: matrix runs a child for each combination of its columns`() async throws {
    let flow = try FlowFixture(
      #"""
      "a": {"each": {"matrix": {"os": ["linux", "a,b\\"], "n": ["1", "${v}"]}}, "width": 1,
        "run": "echo \"$each_os\" \"$each_n\" ${each-none} | tee -a log > \"$each_n-$each_os\"",
        "outputs": ["${each.n}-${each.os}"]},
      "b": {"each": {"same-as": "a"}, "run": ["cat", "${each.n}-${each.os}"]},
      "none": {"each": {"matrix": {"a": ["1"], "b": []}}, "run": "exit 1"}
      """#, head: #""values": {"v": "x=y"},"#)
    let printed = try await flow.run()
    #expect(printed.status == 0, "\(printed.error)")
    #expect(
      flow.lines("log") == [
        "linux 1 none", "linux x=y none", #"a,b\ 1 none"#, #"a,b\ x=y none"#,
      ])
    #expect(printed.ends.contains("a[os=linux,n=1]: succeeded"))
    #expect(printed.ends.contains(#"b[os=a\,b\\,n=x=y]: succeeded"#))
    #expect(flow.output("b[os=linux,n=x=y]") == "linux x=y none\n")
  }

  /// The logs of the children for a table, or the reason of the failure.
  private func rows(_ text: String, name: String = "t.csv", ofStep: Bool = false) async throws
    -> [String]
  {
    let flow = try FlowFixture(
      """
      "table": {"run": ["cat", "\(name)"]},
      "a": {"each": {"rows-of": "\(ofStep ? "table" : name)"}, "width": 1,
        "run": "printf '%s|%s;' \\"$1\\" \\"$each_n\\" >> log",
        "shell": ["sh", "-euc", "eval \\"$$2\\"", "sh", "${each.the id}"]}
      """)
    try flow.folder.write(text, to: name)
    let printed = try await flow.run()
    if printed.status == 0 {
      return (flow.text("log") ?? "").split(separator: ";").map(String.init)
    }
    return printed.ends.filter { $0.contains("failed") }
  }

  @Test(arguments: [false, true])
  func `L18: rows-of runs a child for each row of a file or of the output of a step`(
    ofStep: Bool
  ) async throws {
    #expect(
      try await rows(
        "\u{feff}the id,n\r\n1,\r\n\r\n\"2,\"\"x\"\"\r\ny\",é \r1,\n3,z", ofStep: ofStep)
        == ["1|", "2,\"x\"\r\ny|é ", "3|z"])
    #expect(
      try await rows(
        #"""
        {"n": 1.10, "the id": "a"}
        {"the id": true, "n": "\u00e9", "x": null}

        { "=,\\":"z", "n" : -1e3, "the id":"a" }  {"n": 1.10, "the id": "a"}
        """#, name: "t.NDJSON", ofStep: ofStep)
        == ["a|1.10", "true|é", "a|-1e3"])
    #expect(try await rows("the id,n\n", ofStep: ofStep) == [])
    #expect(try await rows("", name: "t.jsonl") == [])
  }

  @Test(arguments: [
    ("", "no header; expected a line with the names of the columns"),
    ("a,,b", ":1: column 2 has no name"), ("a,b,a", ":1: duplicate column 'a'"),
    ("a,b\n1,2\n\n1", ":4: 1 field; the header has 2 columns"),
    ("a\n\"1\n2\"\n1,2,3", ":4: 3 fields; the header has 1 column"),
    ("a\n\"1\n", ":2: the field has no closing quote"),
    ("a\n1\n\"1\"2", ":3: text after the closing quote of a field"),
    ("a\n1\"", ":2: a quote inside a field; write the field in quotes, and the quote twice"),
    ("a\n\u{1}", ":2: the control character U+0001 is not allowed"),
  ])
  func `L18: a wrong row of a file fails the step with its line`(
    text: String, message: String
  ) async throws {
    let place = message.hasPrefix(":") ? "t.csv" : "t.csv: "
    #expect(try await rows(text) == ["a: failed, \(place)\(message)"])
  }

  @Test func `L18: a column that a row does not have fails the step with those it has`()
    async throws
  {
    #expect(
      try await rows("id,m\n1,2")
        == ["a: failed, 'a[id=1,m=2]' has no column 'the id'; it has 'id', 'm'"])
    #expect(
      try await rows(#"{"the id": 1, "n": 2} {"the id": null, "n": 3}"#, name: "t.jsonl")
        == ["a: failed, 'a[n=3]' has no column 'the id'; it has 'n'"])
  }

  @Test(arguments: [
    ("[1]", ":1: expected an object, found \"[\""),
    (
      "{\"a\": 1}\n{\"a\": [1]}",
      ":2: expected a string, a number, true, false or null, found \"[\""
    ),
    ("{\"a\": null}", ":1: an object without columns"), ("{}", ":1: an object without columns"),
    ("{\"a\": 1, \"a\": 2}", ":1: duplicate column 'a'"),
    ("\n{\"a\": \"\\u0000\"}", ":2: U+0000 in the row; no command can have it in a value"),
    ("{\"a\": 1", ":1: expected a comma or \"}\", found the end of the file"),
  ])
  func `L18: a wrong JSON object fails the step with its line`(
    text: String, message: String
  ) async throws {
    #expect(try await rows(text, name: "t.jsonl") == ["a: failed, t.jsonl\(message)"])
  }

  @Test func `L18: a wrong output fails the step that wrote it, and a missing file the reader`()
    async throws
  {
    #expect(
      try await rows("a,b\n1\n", ofStep: true)
        == ["table: failed, its output, line 2: 1 field; the header has 2 columns"])
    let flow = try FlowFixture(
      #""a": {"each": {"rows-of": "no.csv"}, "run": ["echo", "${each.x}"]}"#)
    #expect(
      try await flow.run().ends == [
        "a: failed, 'no.csv' in rows-of is no step, and cannot be read: No such file or directory"
      ])
    let many = "n\n" + (0...100_000).map { "\($0)\n" }.joined()
    try flow.folder.write(many, to: "no.csv")
    #expect(try await flow.run().ends == ["a: failed, no.csv:100002: more than 100,000 rows"])
  }

  @Test func `L18: a changed row is another child, and the others stay up to date`() async throws {
    let flow = try FlowFixture(
      #"""
      "a": {"each": {"rows-of": "t.csv"}, "run": "echo $each_n | tee -a log > $each_id",
        "outputs": ["${each.id}"]},
      "b": {"each": {"same-as": "a"}, "run": "cat $each_id > b$each_id", "outputs": ["b${each.id}"]}
      """#)
    try flow.folder.write("id,n\n1,x\n2,y\n", to: "t.csv")
    #expect(try await flow.run().status == 0)
    try flow.folder.write("id,n\n2,y\n1,z\n", to: "t.csv")
    let printed = try await flow.run()
    #expect(printed.status == 0)
    #expect(printed.ends.contains("a[id=1,n=z]: succeeded"))
    #expect(printed.ends.contains("a[id=2,n=y]: up to date"))
    #expect(printed.ends.contains("b[id=1,n=z]: succeeded"))
    #expect(flow.lines("log").sorted() == ["x", "y", "z"])
  }

  @Test func `L18: two rows with the same output fail the step before a child begins`()
    async throws
  {
    let flow = try FlowFixture(
      #"""
      "a": {"each": {"rows-of": "t.csv"}, "run": "touch $each_id", "outputs": ["${each.id}"]}
      """#)
    try flow.folder.write("id,n\n1,x\n1,y\n", to: "t.csv")
    #expect(
      try await flow.run().ends == [
        "a: failed, '[id=1,n=x]' and '[id=1,n=y]' have the same output '1'"
      ])
    #expect(!flow.exists("1"))
  }
}
