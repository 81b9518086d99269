extension HostileFile {
  static let names: [HostileFile] = [
    HostileFile(
      #"""
      flow: f
      output: [live]
      defaults: {output: live}
      steps: {a: {run: [x], output: x}}
      """#,
      "2:9: expected a text in output, found a list",
      "3:12: unknown key 'output' in defaults; it belongs to the top level of the file",
      "4:23: unknown key 'output' in step 'a'; expected 'outputs'"),
    HostileFile(
      "flow: f\noutput: Live\nsteps: {a: {run: [x]}}",
      "2:9: unknown output 'Live'; expected quiet, live or grouped"),
    HostileFile(
      #"""
      flow: f
      compare: time
      defaults: {compare: [content]}
      steps:
        a: {run: [x], compare: }
        b: {run: [x], method: checksum}
        c: {needs: [a], compare: content}
      """#,
      "2:10: unknown compare 'time'; expected stamp or content",
      "3:21: expected a text in compare of defaults, found a list",
      "5:26: expected a text in compare of 'a', found nothing",
      "6:17: unknown key 'method' in step 'b'; expected 'compare'",
      "7:28: compare of 'c' has no effect without 'run'; a step that only groups others has 'needs', "
        + "'after' and 'manual'"),
    HostileFile(
      #"""
      flow: my flow
      steps: {a: {run: [x]}}
      """#,
      "1:7: invalid flow name 'my flow'; expected letters, digits, '.', '_' and '-'"),
    HostileFile(
      #"""
      flow: ""
      steps: {a: {run: [x]}}
      """#,
      "1:7: invalid flow name ''; expected letters, digits, '.', '_' and '-'"),
    HostileFile(
      #"""
      flow: ..
      steps: {a: {run: [x]}}
      """#,
      "1:7: invalid flow name '..'; expected letters, digits, '.', '_' and '-'"),
    HostileFile(
      #"""
      flow: [f]
      steps: {a: {run: [x]}}
      """#,
      "1:7: expected a text in flow, found a list"),
    HostileFile(
      #"""
      flow:
      steps: {a: {run: [x]}}
      """#,
      "1:6: expected a text in flow, found nothing"),
    HostileFile(
      #"""
      flow: a/b
      steps: {"c d": {run: [x]}, "e[1]": {run: [x]}, "": {run: [x]}, ".": {run: [x]}}
      """#,
      "1:7: invalid flow name 'a/b'; expected letters, digits, '.', '_' and '-'",
      "2:9: invalid step name 'c d'; expected letters, digits, '.', '_' and '-'",
      "2:28: invalid step name 'e[1]'; expected letters, digits, '.', '_' and '-'",
      "2:48: invalid step name ''; expected letters, digits, '.', '_' and '-'",
      "2:64: invalid step name '.'; expected letters, digits, '.', '_' and '-'"),
    HostileFile(
      #"""
      flow: 012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678
      steps: {größe: {run: [x]}}
      """#,
      "1:7: the flow name '01234567890123456789012345678901234567890123456789012345678901234567890123456789…' is too long; the limit is 128 characters",
      "2:9: invalid step name 'größe'; expected letters, digits, '.', '_' and '-'"),
    HostileFile(
      #"""
      flow: f
      values: {1a: x, "a b": x, each: x, PATH: x, LD_PRELOAD: x, a-b: x, "": x}
      steps: {a: {run: [x]}}
      """#,
      "2:10: invalid value name '1a'; expected letters, digits and '_', and no digit at the start",
      "2:17: invalid value name 'a b'; expected letters, digits and '_', and no digit at the start",
      "2:27: the value name 'each' is reserved for the children of a step",
      "2:36: the value name 'PATH' is reserved; programs give it a meaning",
      "2:45: the value name 'LD_PRELOAD' is reserved; programs give it a meaning",
      "2:60: invalid value name 'a-b'; expected letters, digits and '_', and no digit at the start",
      "2:68: invalid value name ''; expected letters, digits and '_', and no digit at the start"),
    HostileFile(
      #"""
      flow: f
      values: {a: [x], b: {c: d}}
      steps: {a: {run: [x]}}
      """#,
      "2:13: expected a text in value 'a', found a list",
      "2:21: expected a text in value 'b', found a mapping"),
    HostileFile(
      #"""
      flow: f
      values: {a: x, a: y}
      env: {A: x, A: y}
      locks: {l: 1, l: 2}
      steps: {a: {run: [x]}}
      """#,
      "2:16: duplicate value 'a'; the first is in line 2",
      "3:13: duplicate variable 'A' in env; the first is in line 3",
      "4:15: duplicate lock 'l'; the first is in line 4"),
    HostileFile(
      #"""
      flow: f
      values: {version: x}
      env: {"A=B": x, "": x, version: y, each: z, OK: ok}
      steps: {a: {run: [x], env: {"C=": x}}}
      """#,
      "3:7: invalid variable name 'A=B' in env; expected a text without '='",
      "3:17: invalid variable name '' in env; expected a text without '='",
      "3:24: the variable 'version' in env is also a value; rename one of them",
      "3:36: the variable 'each' in env is reserved for the children of a step",
      "4:29: invalid variable name 'C=' in env of 'a'; expected a text without '='"),
    HostileFile(
      #"""
      flow: f
      env: {A: [x], B: {}}
      steps: {a: {run: [x], env: [A]}}
      """#,
      "2:10: expected a text in variable 'A' in env, found a list",
      "2:18: expected a text in variable 'B' in env, found a mapping",
      "3:28: expected a mapping in env of 'a', found a list"),
    HostileFile(
      #"""
      flow: f
      locks: {"a b": 1, c: 0, d: -1, e: x, f: [1], g: }
      steps: {a: {run: [x], locks: ["h i"]}}
      """#,
      "2:9: invalid lock name 'a b'; expected letters, digits, '.', '_' and '-'",
      "2:22: invalid number '0' in permits of lock 'c'; expected a whole number from 1 to 1000000",
      "2:28: invalid number '-1' in permits of lock 'd'; expected a whole number from 1 to 1000000",
      "2:35: invalid number 'x' in permits of lock 'e'; expected a whole number from 1 to 1000000",
      "2:41: expected a text in permits of lock 'f', found a list",
      "2:49: expected a text in permits of lock 'g', found nothing",
      "3:31: invalid lock name 'h i'; expected letters, digits, '.', '_' and '-'"),
    HostileFile(
      #"""
      flow: f
      locks: {gpu: 2}
      steps:
        a: {run: [x], locks: [gpu, gpu]}
        b: {run: [x], locks: {gpu: 3}}
        c: {run: [x], locks: {other: 2}}
        d: {run: [x], locks: {gpu: 0}}
        e: {run: [x], locks: [[gpu]]}
      """#,
      "4:30: duplicate lock 'gpu' in locks of 'a'; write {gpu: 2} for 2 permits",
      "5:25: step 'b' takes 3 permits of lock 'gpu', which has 2",
      "6:25: step 'c' takes 2 permits of lock 'other', which has 1; declare it in locks",
      "7:30: invalid number '0' in permits of lock 'gpu'; expected a whole number from 1 to 1000000",
      "8:25: expected a text in locks of 'e', found a list"),
  ]
}
