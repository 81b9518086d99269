extension HostileFile {
  static let outputs: [HostileFile] = [
    HostileFile(
      #"""
      flow: f
      steps:
        pack: {run: [x], outputs: [dist/x.tar.gz]}
        ship: {run: [x], outputs: [a, dist/x.tar.gz]}
      """#,
      "4:33: duplicate output dist/x.tar.gz of steps 'pack' and 'ship'"),
    HostileFile(
      #"""
      flow: f
      values: {v: "1"}
      steps:
        a: {run: [x], outputs: ["x-${v}"]}
        b: {run: [x], outputs: "x-1"}
      """#,
      "5:26: duplicate output x-1 of steps 'a' and 'b'"),
    HostileFile(
      #"""
      flow: f
      steps:
        a: {run: [x], outputs: [x, x]}
        b: {run: [x], outputs: [./y, y]}
        c: {run: [x], outputs: [z//./a, z/a]}
      """#,
      "3:30: duplicate output x of step 'a'",
      "4:32: duplicate output y of step 'b'",
      "5:35: duplicate output z/a of step 'c'"),
    HostileFile(
      #"""
      flow: f
      steps:
        a: {run: [x], each: [1, 2], outputs: [out.txt]}
        b: {run: [x], each: "*.x", outputs: ["*.y"]}
      """#,
      "3:41: duplicate output out.txt of the children of step 'a'; use '${each}' in it",
      "4:40: duplicate output *.y of the children of step 'b'; use '${each}' in it"),
    HostileFile(
      #"""
      flow: f
      steps:
        a: {run: [x], each: [1, 2], outputs: ["${each}.txt"]}
        b: {run: [x], outputs: [2.txt]}
        c: {run: [x], each: {same-as: a}, outputs: ["./${each}.txt"]}
      """#,
      "4:27: duplicate output 2.txt of steps 'a' and 'b'",
      "5:47: duplicate output ./1.txt of steps 'a' and 'c'",
      "5:47: duplicate output ./2.txt of steps 'a' and 'c'"),
    HostileFile(
      #"""
      flow: f
      steps:
        a: {run: [x], each: "*", outputs: ["${each}.o"]}
        b: {run: [x], each: {same-as: a}, outputs: ["${each}.o"]}
        c: {run: [x], each: "*", outputs: ["${each}.o"]}
      """#,
      "4:47: duplicate output ${each}.o of steps 'a' and 'b'"),
    HostileFile(
      #"""
      flow: f
      steps:
        a: {run: [x], in: a, outputs: [x, /abs]}
        b: {run: [x], in: b, outputs: [x, /abs]}
        c: {run: [x], in: ./a/, outputs: [x]}
      """#,
      "4:37: duplicate output /abs of steps 'a' and 'b'",
      "5:37: duplicate output x of steps 'a' and 'c'"),
  ]
}
