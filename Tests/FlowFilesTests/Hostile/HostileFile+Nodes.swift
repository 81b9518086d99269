extension HostileFile {
  static let nodes: [HostileFile] = [
    HostileFile(
      #"""
      flow: !!str f
      steps: {a: {run: [x]}}
      """#,
      "1:7: tags are not supported: 'tag:yaml.org,2002:str'"),
    HostileFile(
      #"""
      flow: f
      steps: !map {a: {run: !list [x]}}
      """#,
      "2:8: tags are not supported: '!map'",
      "2:23: tags are not supported: '!list'"),
    HostileFile(
      #"""
      flow: f
      steps:
        a: &a {run: [x]}
        b:
          <<: *a
          needs: a
      """#,
      "5:5: merge keys are not supported; repeat the entries"),
    HostileFile(
      #"""
      flow: f
      steps: {a: {run: [*x]}}
      """#,
      "2:19: unknown alias 'x'; expected an anchor '&x' before it"),
    HostileFile(
      #"""
      flow: f
      steps: {a: &a {run: [*a]}}
      """#,
      "2:22: the alias 'a' is part of its own anchor"),
    HostileFile(
      #"""
      flow: f
      values: {x: &x a, y: &x b}
      steps: {a: {run: [x]}}
      """#,
      "2:22: duplicate anchor 'x'; the first is in line 2"),
    HostileFile(
      #"""
      flow: f
      flow: g
      steps: {a: {run: [x]}}
      """#,
      "2:1: duplicate key 'flow' in the file; the first is in line 1"),
    HostileFile(
      #"""
      flow: f
      steps:
        a: {run: [x]}
        b: {run: [x], run: [y]}
        a: {run: [x]}
      """#,
      "4:17: duplicate key 'run' in step 'b'; the first is in line 4",
      "5:3: duplicate step 'a'; the first is in line 3"),
    HostileFile(
      #"""
      flow: f
      steps:
        ? [a, b]
        : {run: [x]}
      """#,
      "3:5: expected a text as the key, found a list"),
    HostileFile(
      #"""
      flow: f
      steps:
        ? {a: b}
        : {run: [x]}
      """#,
      "3:5: expected a text as the key, found a mapping"),
    HostileFile(
      #"""
      flow: f
      steps:
        : {run: [x]}
      """#,
      "3:3: did not find expected key (while parsing a block mapping)"),
    HostileFile(
      #"""
      flow: f
      values: &a {x: &b [*a]}
      steps: {a: {run: [x]}}
      """#,
      "2:20: the alias 'a' is part of its own anchor"),
    HostileFile(
      #"""
      flow: f
      values:
        a: &a [x,x,x,x,x,x,x,x,x,x]
        b: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]
        c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]
        d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]
        e: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]
      steps: {a: {run: [x]}}
      """#,
      "5:34: aliases add more than 1000 values to the file"),
    HostileFile(
      #"""
      flow: f
      x: [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]
      """#,
      "2:35: nested more than 32 levels deep"),
  ]
}
