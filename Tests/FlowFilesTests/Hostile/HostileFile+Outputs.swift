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
      steps:
        a: {run: [x], outputs: [d]}
        b: {run: [x], outputs: ["d/*.txt", x]}
        c: {run: [x], outputs: [./d/e/f.txt]}
        e: {run: [x], outputs: [g, g/h]}
        f: {run: [x], in: d, outputs: [i]}
        h: {run: [x], outputs: [da/i, "da*"]}
      """#,
      "4:27: output d/*.txt of step 'b' is in a folder that is an output of step 'a', so that each of them would change "
        + "the output of the other; name its files there, or let one step make the folder",
      "5:27: output ./d/e/f.txt of step 'c' is in a folder that is an output of step 'a', so that each of them would "
        + "change the output of the other; name its files there, or let one step make the folder",
      "7:34: output i of step 'f' is in a folder that is an output of step 'a', so that each of them would change the "
        + "output of the other; name its files there, or let one step make the folder"),
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
        a: {run: [x], each: "*.c", outputs: ["${each}.o"]}
        b: {run: [x], each: {same-as: a}, outputs: ["${each}.o"]}
        c: {run: [x], each: "*.c", outputs: ["${each}.o"]}
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
    HostileFile(
      #"""
      flow: f
      steps:
        a: {run: [x], in: a, outputs: [x, ../y, "../{s,t}"]}
        b: {run: [x], outputs: [a/x, b/../y, "t"]}
        c: {run: [x], in: /x, outputs: [../z, y/]}
        d: {run: [x], outputs: [/z, /x//y]}
        e: {run: [x], each: [a, b], in: "${each}", outputs: ["${each}.o", "../${each}"]}
        g: {run: [x], each: {lines-of: a}, in: "${each}", outputs: ["${each}"]}
        h: {run: [x], each: {same-as: g}, outputs: ["${each}/${each}"]}
        i: {run: [x], outputs: [a/a.o, b]}
        j: {run: [x], each: [1, 2], in: "j${each}", outputs: [j, /j]}
      """#,
      "3:34: output x of step 'a' is in a folder that is an output of step 'e', so that each of them would change the "
        + "output of the other; name its files there, or let one step make the folder",
      "4:27: duplicate output a/x of steps 'a' and 'b'",
      "4:32: duplicate output b/../y of steps 'a' and 'b'",
      "4:40: duplicate output t of steps 'a' and 'b'",
      "6:27: duplicate output /z of steps 'c' and 'd'",
      "6:31: duplicate output /x//y of steps 'c' and 'd'",
      "9:47: duplicate output ${each}/${each} of steps 'g' and 'h'",
      "10:27: duplicate output a/a.o of steps 'e' and 'i'",
      "10:34: duplicate output b of steps 'e' and 'i'",
      "11:60: duplicate output /j of the children of step 'j'; use '${each}' in it"),
  ]
}
