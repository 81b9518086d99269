extension HostileFile {
  static let inputs: [HostileFile] = [
    HostileFile(
      #"""
      flow: un
      steps:
        use: {run: "cat made.txt > used.txt", inputs: [made.txt], outputs: [used.txt]}
        make: {run: "date > made.txt", outputs: [made.txt]}
      """#,
      "3:50: input 'made.txt' of step 'use' is an output of step 'make'; add needs: [make]"),
    HostileFile(
      #"""
      flow: f
      steps:
        a: {run: [x], outputs: [o/a.o, "gen/${each}"], each: [x]}
        b: {run: [x], outputs: [o/b.o], in: .}
        c: {run: [x], outputs: [../o/c.o, /abs/y], in: sub/.}
        link: {run: [x], inputs: ["o/*.o"], needs: [c]}
        all: {run: [x], inputs: [./o, x], after: [a, b, c]}
        deep: {run: [x], inputs: [../gen/x, "[/]*"], in: o}
        abs: {run: [x], inputs: [/abs/*]}
      """#,
      "3:27: duplicate output o/a.o of the children of step 'a'; use '${each}' in it",
      "6:29: input 'o/*.o' of step 'link' matches an output of step 'a' and of 1 more; add needs: [a, b]",
      "7:28: input './o' of step 'all' is or contains an output of step 'a' and of 2 more; add needs: [a, b, c]",
      "8:29: input '../gen/x' of step 'deep' is or contains an output of step 'a'; add needs: [a]",
      "8:39: '[' without ']'; close it, or write '\\[' for the character in '[/]*'",
      "9:28: input '/abs/*' of step 'abs' matches an output of step 'c'; add needs: [c]"),
    HostileFile(
      #"""
      flow: f
      steps:
        list: {run: [x], each: [1, 2], outputs: ["o/${each}.o"]}
        files: {run: [x], each: "src/**/*.c", outputs: ["obj/${each}.o"]}
        lines: {run: [x], each: {lines-of: list2}, outputs: ["x/${each}.y"]}
        list2: {run: [x]}
        same: {run: [x], each: {same-as: lines}, inputs: ["x/${each}.y"]}
        folder: {run: [x], outputs: [dist, "*.z"]}
        u1: {run: [x], inputs: [o/2.o]}
        u2: {run: [x], inputs: [obj/src/d/a.c.o]}
        u3: {run: [x], inputs: ["x/*.y", x/1.y]}
        u4: {run: [x], inputs: [dist/a/b]}
        u5: {run: [x], inputs: ["dist/*.js"]}
        u6: {run: [x], inputs: [a.z, .z, q/a.z]}
        u7: {run: [x], each: {lines-of: list2}, inputs: ["x/${each}.y"]}
        u8: {run: [x], each: [2, 3], inputs: ["o/${each}.o"]}
      """#,
      "9:27: input 'o/2.o' of step 'u1' is or contains an output of step 'list'; add needs: [list]",
      "10:27: input 'obj/src/d/a.c.o' of step 'u2' is or contains an output of step 'files'; add needs: [files]",
      "11:27: input 'x/*.y' of step 'u3' matches an output of step 'lines'; add needs: [lines]",
      "12:27: input 'dist/a/b' of step 'u4' is or contains an output of step 'folder'; add needs: [folder]",
      "13:27: input 'dist/*.js' of step 'u5' matches an output of step 'folder'; add needs: [folder]",
      "14:27: input 'a.z' of step 'u6' is or contains an output of step 'folder'; add needs: [folder]",
      "16:41: input 'o/${each}.o' of step 'u8' is an output of step 'list'; add needs: [list]"),
    HostileFile(
      #"""
      flow: f
      steps:
        make: {run: [x], outputs: [data/a.csv, rows.csv, in.txt, data/sub/deep/y, "build/*"]}
        each: {run: [x], each: "data/*.csv"}
        rows: {run: [x], each: {rows-of: rows.csv}, in: d}
        name: {run: [x], each: {rows-of: "*.csv"}, stdin: "?n.txt"}
        stdin: {run: [x], stdin: ../in.txt, in: d}
        folder: {run: [x], each: "data/*", in: ./}
        child: {run: [x], each: [1, 2], in: "d/${each}", outputs: [x, "${each}"]}
        other: {run: [x], inputs: [d/1/x], in: .}
        files: {run: [x], inputs: ["data/s*", "data/sub/*/../deep/*", "build/a/b", "*uild"]}
        needed: {run: [x], each: "data/*", needs: [each, make], stdin: in.txt}
      """#,
      "4:26: each 'data/*.csv' of step 'each' matches an output of step 'make'; add needs: [make]",
      "5:36: rows-of 'rows.csv' of step 'rows' is an output of step 'make'; add needs: [make]",
      "7:28: stdin '../in.txt' of step 'stdin' is or contains an output of step 'make'; add needs: [make]",
      "8:28: each 'data/*' of step 'folder' matches an output of step 'make'; add needs: [make]",
      "10:30: input 'd/1/x' of step 'other' is or contains an output of step 'child'; add needs: [child]",
      "11:30: input 'data/s*' of step 'files' matches an output of step 'make'; add needs: [make]",
      "11:41: input 'data/sub/*/../deep/*' of step 'files' matches an output of step 'make'; add needs: [make]",
      "11:65: input 'build/a/b' of step 'files' is or contains an output of step 'make'; add needs: [make]",
      "11:78: input '*uild' of step 'files' matches an output of step 'make'; add needs: [make]"),
    HostileFile(
      #"""
      flow: f
      steps:
        docs: {run: [x], inputs: ["**/*.md"]}
        site: {run: [x], outputs: [site/index.md], needs: [docs]}
      """#,
      "3:29: input '**/*.md' of step 'docs' matches an output of step 'site', which needs it; a step cannot read what a later one writes"
    ),
    HostileFile(
      #"""
      flow: f
      steps:
        a: {run: [x], inputs: ["a[b", 'a\[b', "{a,b", "{each}.c", "[[:foo:]]"]}
        b: {run: [x], outputs: ["{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}"]}
        c: {run: [x], each: "x/[/y]"}
        d: {run: [x], inputs: ["}", "]", a,b, "{,}"]}
      """#,
      "3:26: '[' without ']'; close it, or write '\\[' for the character in 'a[b'",
      "3:41: a brace without a comma or its end; write {a,b} for alternatives, or '\\{' for the character in '{a,b'",
      "3:49: a brace without a comma or its end; write {a,b} for alternatives, or '\\{' for the character in '{each}.c'",
      "3:61: unknown class '[:foo:]' in '[[:foo:]]'",
      "4:27: too many braces in '{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}'; the limit is 1,000 names",
      "5:23: '[' without ']'; close it, or write '\\[' for the character in 'x/[/y]'"),
  ]
}
