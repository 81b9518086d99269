extension HostileFile {
  static let columns: [HostileFile] = [
    HostileFile(
      #"""
      flow: f
      steps:
        a: {run: [x], each: {matrix: x}}
        b: {run: [x], each: {matrix: {}}}
        c: {run: [x], each: {matrix: {p: x, q: , "r s": [y], t: [u, u, [v]]}}}
        d: {run: [x], each: {matrix: {p: [1], p: [2]}}}
        e: {run: [x], each: {matrix: {p: ["${q}", "${each}"]}, rows-of: r}}
        f: {run: [x], each: {rows-of: }}
        g: {run: [x], each: {rows-of: ""}}
        h: {run: [x], each: {rows_of: x}}
      """#,
      "3:32: expected a mapping in matrix of 'a', found a text",
      "4:32: matrix of 'b' is empty; expected a column with a list of values",
      "5:36: expected a list in column 'p' in matrix of 'c', found a text",
      "5:42: expected a list in column 'q' in matrix of 'c', found nothing",
      "5:44: invalid column name 'r s' in matrix of 'c'; expected letters, digits and '_', and no digit at the start",
      "5:63: duplicate value 'u' in column 't' in matrix of 'c'",
      "5:66: expected a text in column 't' in matrix of 'c', found a list",
      "6:41: duplicate column 'p' in matrix of 'd'; the first is in line 6",
      "7:37: unknown value 'q' in column 'p' in matrix of 'e'; declare it in values",
      "7:45: '${each}' in column 'p' in matrix of 'e' is not available; it comes from this field",
      "7:58: second source of values in each of 'e'; expected one",
      "8:33: expected a text in rows-of of 'f', found nothing",
      "9:33: the path in rows-of of 'g' is empty",
      "10:24: unknown key 'rows_of' in each of 'h'; expected 'rows-of'"),
    HostileFile(
      #"""
      flow: f
      steps:
        a: {run: [x, "${each}"], each: {matrix: {p: [1], q: [2]}}}
        b: {run: [x, "${each.p} ${each.r}", "${each.}"], each: {same-as: a}}
        c: {run: [x, "${each.p}"], each: [1]}
        d: {run: [x], env: {A: "${each.p}"}, only-if: ["${each.q}"], each: {same-as: c}}
        e: {run: [x, "${each.p}"]}
        f: {run: [x, "${each.any thing}", "${each}"], each: {rows-of: t.csv}}
        g: {run: [x, "${each.z}"], each: {same-as: g}}
      """#,
      "3:16: '${each}' in step 'a' is not available; write '${each.NAME}' for a column",
      "4:16: unknown column 'r' in step 'b'; expected one of p, q",
      "4:39: invalid name 'each.' in '${each.}'; expected letters, digits and '_', as in ${version}",
      "5:16: '${each.p}' in step 'c' is not available; the children have no columns, so write '${each}'",
      "6:26: '${each.p}' in step 'd' is not available; the children have no columns, so write '${each}'",
      "6:50: '${each.q}' in step 'd' is not available; the children have no columns, so write '${each}'",
      "7:16: '${each.p}' in run of 'e' is not available; the step has no 'each'",
      "8:37: '${each}' in step 'f' is not available; write '${each.NAME}' for a column",
      "9:46: step 'g' needs itself"),
    HostileFile(
      #"""
      flow: f
      steps:
        a: {run: [x], each: {matrix: {p: [1, 2], q: [1, 2]}}, outputs: ["${each.p}", x]}
        b: {run: [x], each: {rows-of: a}}
        c: {run: [x]}
        d: {run: [x], each: {rows-of: c}}
        e: {run: [x], each: {lines-of: c}}
        f: {run: [x], each: {same-as: d}, outputs: ["${each.p}.o"]}
        g: {run: [x], each: {same-as: f}, outputs: ["${each.p}.o"], after: f}
      """#,
      "3:67: duplicate output 1 of step 'a'",
      "3:67: duplicate output 2 of step 'a'",
      "3:80: duplicate output x of the children of step 'a'; use '${each.NAME}' in it",
      "4:33: rows-of of 'b' needs a step without 'each', and 'a' has 'each'",
      "7:34: step 'c' is in rows-of and in lines-of; expected one of them",
      "9:47: duplicate output ${each.p}.o of steps 'f' and 'g'",
      "9:70: step 'f' is in both same-as and after of 'g'; same-as is enough"),
    HostileFile(
      "flow: f\nsteps:\n  a: {run: x, each: {matrix: {"
        + (0..<80).map { "c\($0): [0, 1]" }.joined(separator: ", ") + "}}}\n",
      "3:30: matrix of 'a' has more than 100,000 combinations"),
  ]
}
