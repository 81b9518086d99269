extension HostileFile {
  static let documents: [HostileFile] = [
    HostileFile(
      #"""

      """#,
      "1:1: the file is empty; expected the keys 'flow' and 'steps'"),
    HostileFile(
      #"""
      # nothing
      """#,
      "1:1: the file is empty; expected the keys 'flow' and 'steps'"),
    HostileFile(
      #"""
      ---
      """#,
      "2:1: the file is empty; expected the keys 'flow' and 'steps'"),
    HostileFile(
      #"""
      --- ~
      """#,
      "1:5: expected a mapping in the file, found a text"),
    HostileFile(
      #"""
      ---
      ...
      """#,
      "2:1: the file is empty; expected the keys 'flow' and 'steps'"),
    HostileFile(
      #"""
      flow: f
      steps: {a: {run: [x]}}
      ---
      flow: g
      """#,
      "3:1: a second document; a flow file has one"),
    HostileFile(
      #"""
      - flow
      """#,
      "1:1: expected a mapping in the file, found a list"),
    HostileFile(
      #"""
      flow
      """#,
      "1:1: expected a mapping in the file, found a text"),
    HostileFile(
      #"""
      {}
      """#,
      "1:1: missing key 'flow' in the file",
      "1:1: missing key 'steps' in the file"),
    HostileFile(
      #"""
      flow: f
      """#,
      "1:1: missing key 'steps' in the file"),
    HostileFile(
      #"""
      steps: {a: {run: [x]}}
      """#,
      "1:1: missing key 'flow' in the file"),
    HostileFile(
      #"""
      flow: f
      steps:
      """#,
      "2:7: expected a mapping in steps, found nothing"),
    HostileFile(
      #"""
      flow: f
      steps: {}
      """#,
      "2:8: steps is empty; expected at least one step"),
    HostileFile(
      #"""
      flow: f
      steps: []
      """#,
      "2:8: expected a mapping in steps, found a list"),
    HostileFile(
      #"""
      flow: f
      steps: a
      """#,
      "2:8: expected a mapping in steps, found a text"),
    HostileFile(
      #"""
      flow: f
      steps: {a: }
      """#,
      "2:12: expected a mapping in step 'a', found nothing"),
    HostileFile(
      #"""
      flow: f
      steps: {a: x}
      """#,
      "2:12: expected a mapping in step 'a', found a text"),
    HostileFile(
      #"""
      flow: f
      steps: {a: [x]}
      """#,
      "2:12: expected a mapping in step 'a', found a list"),
    HostileFile(
      #"""
      flow: f
      steps: {a: {}}
      """#,
      "2:9: missing key 'run' in step 'a'"),
  ]
}
