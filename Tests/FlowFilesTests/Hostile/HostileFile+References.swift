extension HostileFile {
  static let references: [HostileFile] = [
    HostileFile(
      #"""
      flow: f
      steps:
        test: {run: [x]}
        pack:
          run: [x]
          needs: [tests]
      """#,
      "6:13: unknown step 'tests' in needs of 'pack'; did you mean 'test'?"),
    HostileFile(
      #"""
      flow: f
      steps:
        build: {run: [x]}
        a: {run: [x], needs: biuld, after: [Build, unrelated]}
        b: {run: [x], each: {lines-of: biuld}}
        c: {run: [x], each: {same-as: builds}}
      """#,
      "4:24: unknown step 'biuld' in needs of 'a'; did you mean 'build'?",
      "4:39: unknown step 'Build' in after of 'a'; did you mean 'build'?",
      "4:46: unknown step 'unrelated' in after of 'a'",
      "5:34: unknown step 'biuld' in lines-of of 'b'; did you mean 'build'?",
      "6:33: unknown step 'builds' in same-as of 'c'; did you mean 'build'?"),
    HostileFile(
      #"""
      flow: f
      steps:
        a: {run: [x], needs: [b]}
        b: {run: [x], needs: [a]}
      """#,
      "3:3: cycle: 'a' needs 'b', which needs 'a'"),
    HostileFile(
      #"""
      flow: f
      steps:
        a: {run: [x], needs: [b]}
        b: {run: [x], after: [c]}
        c: {run: [x], each: {lines-of: d}}
        d: {run: [x], needs: [a]}
        e: {run: [x], needs: [d]}
      """#,
      "3:3: cycle: 'a' needs 'b', which runs after 'c', which needs 'd', which needs 'a'"),
    HostileFile(
      #"""
      flow: f
      steps:
        z: {run: [x], needs: [c]}
        c: {run: [x], needs: [b]}
        b: {run: [x], needs: [c, y]}
        y: {run: [x], after: x}
        x: {run: [x], after: [y]}
      """#,
      "4:3: cycle: 'c' needs 'b', which needs 'c'",
      "6:3: cycle: 'y' runs after 'x', which runs after 'y'"),
    HostileFile(
      #"""
      flow: f
      steps:
        a: {run: [x], needs: [a]}
        b: {run: [x], after: b}
        c: {run: [x], each: {lines-of: c}}
        d: {run: [x], each: {same-as: d}}
      """#,
      "3:25: step 'a' needs itself",
      "4:24: step 'b' runs after itself",
      "5:34: step 'c' needs itself",
      "6:33: step 'd' needs itself"),
    HostileFile(
      #"""
      flow: f
      steps:
        a: {run: [x]}
        b: {run: [x], needs: [a, a]}
        c: {run: [x], after: [a, a]}
        d: {run: [x], needs: [a], after: [a]}
        e: {run: [x], each: {lines-of: a}, after: a, needs: a}
      """#,
      "4:28: duplicate step 'a' in needs of 'b'",
      "5:28: duplicate step 'a' in after of 'c'",
      "6:37: step 'a' is in both needs and after of 'd'; needs is enough",
      "7:45: step 'a' is in both lines-of and after of 'e'; lines-of is enough"),
    HostileFile(
      #"""
      flow: f
      steps:
        a: {run: [x]}
        b: {run: [x], each: {same-as: a}}
        c: {run: [x], each: {lines-of: b}}
        d: {run: [x], each: {same-as: b}}
      """#,
      "4:33: same-as of 'b' needs a step with 'each', and 'a' has no 'each'",
      "5:34: lines-of of 'c' needs a step without 'each', and 'b' has 'each'"),
    HostileFile(
      #"""
      flow: f
      steps:
        a: {run: [x], needs: }
        b: {run: [x], needs: {a: b}}
        c: {run: [x], needs: [[a]]}
        d: {run: [x], needs: ""}
        e: {run: [x], needs: [~]}
      """#,
      "3:24: expected a text or a list in needs of 'a', found nothing",
      "4:24: expected a text or a list in needs of 'b', found a mapping",
      "5:25: expected a text in needs of 'c', found a list",
      "6:24: unknown step '' in needs of 'd'",
      "7:25: unknown step '~' in needs of 'e'"),
  ]
}
