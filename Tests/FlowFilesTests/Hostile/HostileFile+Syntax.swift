extension HostileFile {
  static let syntax: [HostileFile] = [
    HostileFile(
      #"""
      "é":\#t@
      """#,
      "1:6: found character that cannot start any token (while scanning for the next token); put a text that begins with this character in quotes"
    ),
    HostileFile(
      #"""
      flow: f
      steps:
        a: {run: [x]
        b: {run: [y]}
      """#,
      "4:3: did not find expected ',' or '}' (while parsing a flow mapping)"),
    HostileFile(
      #"""
      flow: f
      steps:
      \#ta: {run: [x]}
      """#,
      "3:1: found character that cannot start any token (while scanning for the next token); indent with spaces instead of tabs"
    ),
    HostileFile(
      #"""
      flow: f
       steps: {}
      """#,
      "2:7: mapping values are not allowed in this context; check the indentation, and put a text that contains ': ' in quotes"
    ),
    HostileFile(
      #"""
      flow: "f
      """#,
      "1:9: found unexpected end of stream (while scanning a quoted scalar)"),
    HostileFile(
      #"""
      flow: f
      steps: {a: {run: [x]}}}
      """#,
      "2:23: did not find expected key (while parsing a block mapping)"),
    HostileFile(
      #"""
      flow: f
      steps:
      - a
       b
      """#,
      "3:1: expected a mapping in steps, found a list"),
    HostileFile(
      #"""
      flow: @f
      """#,
      "1:7: found character that cannot start any token (while scanning for the next token); put a text that begins with this character in quotes"
    ),
    HostileFile(
      #"""
      flow: `f`
      """#,
      "1:7: found character that cannot start any token (while scanning for the next token); put a text that begins with this character in quotes"
    ),
    HostileFile(
      #"""
      flow: %f
      """#,
      "1:7: found character that cannot start any token (while scanning for the next token); put a text that begins with this character in quotes"
    ),
    HostileFile(
      #"""
      flow: f
      steps: {a: {run: "\q"}}
      """#,
      "2:19: found unknown escape character (while parsing a quoted scalar); write a backslash as '\\\\', or put the text in single quotes"
    ),
    HostileFile(
      #"""
      flow: f
      steps: {a: {run: "\ud800"}}
      """#,
      "2:21: found invalid Unicode character escape code (while parsing a quoted scalar)"),
    HostileFile(
      #"""
      flow: f: g
      """#,
      "1:8: mapping values are not allowed in this context; check the indentation, and put a text that contains ': ' in quotes"
    ),
    HostileFile(
      #"""
      [
      """#,
      "2:1: did not find expected node content (while parsing a flow node)"),
    HostileFile(
      #"""
      %FOO bar
      ---
      flow: f
      """#,
      "1:5: found unknown directive name (while scanning a directive)"),
    HostileFile(
      #"""
      %YAML 3.0
      ---
      flow: f
      """#,
      "1:1: found incompatible YAML document"),
    HostileFile(
      #"""
      %TAG !e! tag:example.org,2000:
      ---
      flow: f
      """#,
      "1:1: tags are not supported: '%TAG'"),
    HostileFile(
      #"""
      flow: f
      steps:
        a:
          run: |x
            y
      """#,
      "4:11: did not find expected comment or line break (while scanning a block scalar)"),
    HostileFile(
      #"""
      flow: f
      'steps
      """#,
      "2:7: found unexpected end of stream (while scanning a quoted scalar)"),
    HostileFile(
      #"""
      flow: f
      steps: {a: {run: [x]}}
      ...
      ]
      """#,
      "4:1: did not find expected <document start>"),
    HostileFile(
      #"""
      &
      """#,
      "1:2: did not find expected alphabetic or numeric character (while scanning an anchor)"),
  ]
}
