extension HostileFile {
  static let several: [HostileFile] = [
    HostileFile(
      #"""
      width: none
      flow: a b
      values: {each: 1}
      locks: {l: 0}
      defaults: {timeout: soon}
      steps:
        a: {run: [], needs: [b, c], typo: 1, locks: {l: 2}, accept: 999}
        b: {needs: a, outputs: ["${x}"], retries: lots}
      """#,
      "1:8: invalid number 'none' in width; expected a whole number from 1 to 10000",
      "2:7: invalid flow name 'a b'; expected letters, digits, '.', '_' and '-'",
      "3:10: the value name 'each' is reserved for the children of a step",
      "4:12: invalid number '0' in permits of lock 'l'; expected a whole number from 1 to 1000000",
      "5:21: invalid duration 'soon'; expected a number and ms, s, m or h, such as 10m",
      "7:3: cycle: 'a' needs 'b', which needs 'a'",
      "7:12: the command in run of 'a' is empty",
      "7:27: unknown step 'c' in needs of 'a'",
      "7:31: unknown key 'typo' in step 'a'; expected one of width, env, shell, locks, run, needs, after, only-if, inputs, outputs, compare, each, retries, backoff, timeout, stop-grace, in, accept, stdin, manual, interactive",
      "7:63: invalid number '999' in accept of 'a'; expected a whole number from 0 to 255",
      "8:26: outputs of 'b' has no effect without 'run'; a step that only groups others has 'needs', 'after' and 'manual'",
      "8:27: unknown value 'x' in outputs of 'b'; declare it in values",
      "8:45: invalid number 'lots' in retries of 'b'; expected a whole number from 0 to 1000",
      "8:45: retries of 'b' has no effect without 'run'; a step that only groups others has 'needs', 'after' and 'manual'"
    ),
    HostileFile(
      #"""
      flow: "a\nb\u202e"
      steps: {"x\ty": {run: [x], needs: ["\e[31m"]}}
      """#,
      "1:7: invalid flow name 'a\\nbU+202E'; expected letters, digits, '.', '_' and '-'",
      "2:9: invalid step name 'x\\ty'; expected letters, digits, '.', '_' and '-'",
      "2:36: unknown step 'U+001B[31m' in needs of 'x\\ty'"),
    HostileFile(
      #"""
      flow: f
      steps: {aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa: {run: [x], "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk": 1}}
      """#,
      "2:9: the step name 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…' is too long; the limit is 128 characters",
      "2:161: unknown key 'kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk…' in step 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…'; expected one of width, env, shell, locks, run, needs, after, only-if, inputs, outputs, compare, each, retries, backoff, timeout, stop-grace, in, accept, stdin, manual, interactive"
    ),
  ]
}
