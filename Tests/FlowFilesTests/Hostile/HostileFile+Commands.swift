extension HostileFile {
  static let commands: [HostileFile] = [
    HostileFile(
      #"""
      flow: f
      on: {sucess: x, failure: "", always: [x, "${v}", "${each}"], interrupted: {a: b}, always: }
      defaults: {on: {}}
      steps: {a: {run: x}}
      """#,
      "2:6: unknown key 'sucess' in on; expected one of success, failure, interrupted, always",
      "2:26: the command in failure of on is empty",
      "2:42: unknown value 'v' in always of on; declare it in values",
      "2:50: '${each}' in always of on is not available; only a step with 'each' has it",
      "2:75: expected a text or a list in interrupted of on, found a mapping",
      "2:83: duplicate key 'always' in on; the first is in line 2",
      "3:12: unknown key 'on' in defaults; it belongs to the top level of the file"),
    HostileFile(
      #"""
      flow: f
      steps:
        a: {run: []}
        b: {run: ""}
        c: {run: " "}
        d: {run: [""]}
        e: {run: [[]]}
        f: {run: [[x], []]}
        g: {run: [["", x]]}
      """#,
      "3:12: the command in run of 'a' is empty",
      "4:12: the command in run of 'b' is empty",
      "5:12: the command in run of 'c' is empty",
      "6:13: the name of the program in run of 'd' is empty",
      "7:13: the command in run of 'e' is empty",
      "8:18: the command in run of 'f' is empty",
      "9:14: the name of the program in run of 'g' is empty"),
    HostileFile(
      #"""
      flow: f
      steps:
        a: {run: }
        b: {run: {x: y}}
        c: {run: [x, [y]]}
        d: {run: [[x], y]}
        e: {run: [{x: y}]}
        f: {run: [[[x]]]}
        g: {run: [x, {y: z}]}
      """#,
      "3:12: expected a text or a list in run of 'a', found nothing",
      "4:12: expected a text or a list in run of 'b', found a mapping",
      "5:13: expected a list like the others in run of 'c', found a text",
      "6:18: expected a list like the others in run of 'd', found a text",
      "7:13: expected a text in run of 'e', found a mapping",
      "8:14: expected a text in run of 'f', found a list",
      "9:16: expected a text in run of 'g', found a mapping"),
    HostileFile(
      #"""
      flow: f
      steps:
        a: {run: "a\0b"}
        b: {run: [x, "a\0b"]}
        c: {run: [x], in: "\0", env: {A: "\0", "B\0": x}, inputs: "\0"}
      """#,
      "3:12: U+0000 in run of 'a'; no command or file name can contain it",
      "4:16: U+0000 in run of 'b'; no command or file name can contain it",
      "5:21: U+0000 in in of 'c'; no command or file name can contain it",
      "5:36: U+0000 in variable 'A' in env of 'c'; no command or file name can contain it",
      "5:42: invalid variable name 'BU+0000' in env of 'c'; expected a text without '='",
      "5:61: U+0000 in inputs of 'c'; no command or file name can contain it"),
    HostileFile(
      #"""
      flow: f
      steps:
        a: {run: [x], only-if: []}
        b: {run: [x], only-if: [[x]]}
        c: {run: [x], only-if: {x: y}}
        d: {run: [x], only-if: ""}
      """#,
      "3:26: the command in only-if of 'a' is empty",
      "4:27: expected a text in only-if of 'b', found a list",
      "5:26: expected a text or a list in only-if of 'c', found a mapping",
      "6:26: the command in only-if of 'd' is empty"),
    HostileFile(
      #"""
      flow: f
      steps:
        a: {run: [x], in: "", stdin: "", inputs: [""], outputs: ["", x], each: ""}
      """#,
      "3:21: the path in in of 'a' is empty",
      "3:32: the path in stdin of 'a' is empty",
      "3:45: the path in inputs of 'a' is empty",
      "3:60: the path in outputs of 'a' is empty",
      "3:64: duplicate output x of the children of step 'a'; use '${each}' in it",
      "3:74: the pattern in each of 'a' is empty"),
    HostileFile(
      #"""
      flow: f
      steps:
        a: {run: [x], in: [y], stdin: [z], inputs: {a: b}, outputs: , each: }
      """#,
      "3:21: expected a text in in of 'a', found a list",
      "3:33: expected a text in stdin of 'a', found a list",
      "3:46: expected a text or a list in inputs of 'a', found a mapping",
      "3:63: expected a text or a list in outputs of 'a', found nothing",
      "3:71: expected a list, a pattern or a mapping in each of 'a', found nothing"),
    HostileFile(
      #"""
      flow: f
      shell: bash -c
      defaults: {shell: [bash, "${each}"]}
      steps:
        a: {run: x, shell: }
        b: {run: x, shell: []}
        c: {run: x, shell: ["", -c]}
        d: {run: x, shell: [[bash]]}
        e: {run: x, shell: [bash, "${v}", $1]}
      """#,
      "2:8: expected a list in shell, found a text",
      "3:26: '${each}' in shell of defaults is not available; only a step with 'each' has it",
      "5:22: expected a list in shell of 'a', found nothing",
      "6:22: the command in shell of 'b' is empty",
      "7:23: the name of the program in shell of 'c' is empty",
      "8:23: expected a text in shell of 'd', found a list",
      "9:29: unknown value 'v' in shell of 'e'; declare it in values",
      "9:37: lone '$' in '$1'; write '$$' for a dollar sign"),
    HostileFile(
      #"""
      flow: f
      steps:
        a: {run: [x], each: [a, b, a]}
        b: {run: [x], each: [[a], {b: c}]}
        c: {run: [x], each: {lines-of: [a]}}
      """#,
      "3:30: duplicate value 'a' in each of 'a'",
      "4:24: expected a text in each of 'b', found a list",
      "4:29: expected a text in each of 'b', found a mapping",
      "5:34: expected a text in lines-of of 'c', found a list"),
  ]
}
