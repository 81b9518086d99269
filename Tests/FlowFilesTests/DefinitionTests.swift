import FlowFiles
import Testing

@Suite(.needsYAML)
struct DefinitionTests {
  private func definition(
    _ step: String, values: String = "{v: '1', w: '2'}", env: String = "{}",
    environment: [String: String] = ["HOME": "/home/me", "LANG": "C"]
  ) throws -> String {
    let file = try FlowFile(
      yaml: "flow: f\nvalues: \(values)\nenv: \(env)\nsteps:\n  s: \(step)\n")
    return file.steps[0].definition(values: file.texts, environment: environment)
  }

  @Test func `a definition has the commands, the statuses and the values that they use`() throws {
    #expect(
      try definition("{run: [[x, '${v}', '$$'], [\"\\u00e9\\n\"]], in: 'd${w}', accept: [3, 0]}")
        == #"{"accept":[0,3],"env":{},"environment":{},"in":"d${w}","run":[["x","${v}","$$"],["é\n"]],"values":{"v":"1","w":"2"}}"#
    )
  }

  @Test func `a text for the shell and a list with one word differ`() throws {
    #expect(
      try definition("{run: make}")
        == #"{"accept":[0],"env":{},"environment":{},"run":["make"],"values":{}}"#)
    #expect(
      try definition("{run: [make]}")
        == #"{"accept":[0],"env":{},"environment":{},"run":[["make"]],"values":{}}"#)
  }

  @Test func `a text for the shell uses the values and variables that it names`() throws {
    #expect(
      try definition("{run: 'echo $v ${HOME:-x}'}")
        == #"{"accept":[0],"env":{},"environment":{"HOME":"/home/me"},"run":["echo $v ${HOME:-x}"],"values":{"v":"1"}}"#
    )
    // A value replaces a variable of the process.
    #expect(
      try definition("{run: 'echo $v'}", environment: ["v": "other"])
        == definition("{run: 'echo $v'}", environment: [:]))
  }

  @Test(arguments: [
    ("$v", true), ("a${v}b", true), ("${#v}", true), ("${v%.c}", true), ("$((v + 1))", true),
    ("$((1 + (v)))", true), ("'$v'", true), ("v", false), ("$vv", false), ("${vv}", false),
    ("$$v", true), ("$(v)", false), ("$((1)) v", false), ("$1v", false), ("${x:-$v}", true),
    ("$((1 + 1v))", false),
  ])
  func `names in a text for the shell are found`(text: String, usesValue: Bool) throws {
    let definition = try definition("{run: \"\(text)\"}")
    #expect(definition.hasSuffix(#""values":{"v":"1"}}"#) == usesValue)
    #expect(definition.hasSuffix(#""values":{}}"#) != usesValue)
  }

  @Test func `all variables of the step count, with their texts`() throws {
    #expect(
      try definition(
        "{run: 'echo $HOME', env: {B: 'b$$', HOME: x}}", env: "{A: '${v}', B: a}")
        == #"{"accept":[0],"env":{"A":"1","B":"b$","HOME":"x"},"environment":{},"run":["echo $HOME"],"values":{}}"#
    )
  }

  @Test func `only fields of the definition change it`() throws {
    let first = try definition("{run: [x]}")
    #expect(
      try definition(
        "{run: [x], retries: 3, timeout: 1s, inputs: i, outputs: o, only-if: 'true', locks: l}",
        values: "{v: '2'}") == first)
    for step in [
      "{run: [y]}", "{run: [x], in: d}", "{run: [x], accept: 1}", "{run: [x], env: {A: b}}",
      "{run: [x], stdin: f}",
    ] {
      #expect(try definition(step) != first)
    }
    #expect(try definition("{run: [x], shell: [y]}") == first)
  }

  @Test func `the shell of a text is in the definition, unless it is the default`() throws {
    #expect(
      try definition("{run: x, shell: [bash, '-${v}', '$$']}")
        == #"{"accept":[0],"env":{},"environment":{},"run":["x"],"shell":["bash","-${v}","$$"],"values":{"v":"1"}}"#
    )
    #expect(
      try definition("{run: x, shell: [/bin/sh, -eu, -c]}") == definition("{run: x}"))
  }

  @Test func `the children of a step have the same definition`() throws {
    #expect(
      try definition("{run: [x, '${each}'], each: [a, b], env: {E: '${each}'}}")
        == #"{"accept":[0],"env":{"E":"${each}"},"environment":{},"run":[["x","${each}"]],"values":{}}"#
    )
  }
}
