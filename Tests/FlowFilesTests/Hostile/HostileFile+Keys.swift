extension HostileFile {
  static let keys: [HostileFile] = [
    HostileFile(
      #"""
      flow: f
      steps:
        test: {run: [x]}
        pack:
          run: [x]
          need: [test]
      """#,
      "6:5: unknown key 'need' in step 'pack'; expected 'needs'"),
    HostileFile(
      #"""
      flow: f
      step: {a: {run: [x]}}
      """#,
      "2:1: unknown key 'step' in the file; expected 'steps'"),
    HostileFile(
      #"""
      flow: f
      version: 1
      steps: {a: {run: [x]}}
      """#,
      "2:1: unknown key 'version' in the file; expected one of flow, width, values, dotenv, env, shell, output, on, defaults, locks, steps, compare, stop-grace, resume-within, keep, secrets"
    ),
    HostileFile(
      #"""
      name: f
      tasks: {a: {run: [x]}}
      """#,
      "1:1: unknown key 'name' in the file; expected 'flow'",
      "2:1: unknown key 'tasks' in the file; expected 'steps'"),
    HostileFile(
      #"""
      flow: f
      steps:
        a:
          cmd: make
      """#,
      "4:5: unknown key 'cmd' in step 'a'; expected 'run'"),
    HostileFile(
      #"""
      flow: f
      steps:
        a: {run: [x], depends_on: [b], if: "true", cwd: /, environment: {}, xyz: 1}
      """#,
      "3:17: unknown key 'depends_on' in step 'a'; expected 'needs'",
      "3:34: unknown key 'if' in step 'a'; expected 'only-if'",
      "3:46: unknown key 'cwd' in step 'a'; expected 'in'",
      "3:54: unknown key 'environment' in step 'a'; expected 'env'",
      "3:71: unknown key 'xyz' in step 'a'; expected one of width, env, shell, locks, run, needs, after, only-if, inputs, outputs, compare, each, retries, backoff, timeout, stop-grace, in, accept, stdin, manual, interactive"
    ),
    HostileFile(
      #"""
      flow: f
      steps:
        a: {run: [x], frobnicate: 1}
      """#,
      "3:17: unknown key 'frobnicate' in step 'a'; expected one of width, env, shell, locks, run, needs, after, only-if, inputs, outputs, compare, each, retries, backoff, timeout, stop-grace, in, accept, stdin, manual, interactive"
    ),
    HostileFile(
      #"""
      flow: f
      defaults: {retries: 1, run: [x], steps: {}, TIMEOUT: 3s, timeot: 3s}
      steps: {a: {run: [x]}}
      """#,
      "2:24: unknown key 'run' in defaults; only a step has it",
      "2:34: unknown key 'steps' in defaults; it belongs to the top level of the file",
      "2:45: unknown key 'TIMEOUT' in defaults; expected 'timeout'",
      "2:58: unknown key 'timeot' in defaults; expected 'timeout'"),
    HostileFile(
      #"""
      flow: f
      defaults: {needs: [a]}
      steps: {a: {run: [x], flow: g, defaults: {}}}
      """#,
      "2:12: unknown key 'needs' in defaults; only a step has it",
      "3:23: unknown key 'flow' in step 'a'; it belongs to the top level of the file",
      "3:32: unknown key 'defaults' in step 'a'; it belongs to the top level of the file"),
    HostileFile(
      #"""
      flow: f
      run: [x]
      steps: {a: {run: [x]}}
      """#,
      "2:1: unknown key 'run' in the file; only a step has it"),
    HostileFile(
      #"""
      flow: f
      steps:
        a: {run: [x]}
        b: {run: [x], each: {lines_of: a}}
        c: {run: [x], each: {step: a}}
        d: {run: [x], each: {}}
        e: {run: [x], each: {lines-of: a, same-as: b}}
      """#,
      "4:24: unknown key 'lines_of' in each of 'b'; expected 'lines-of'",
      "5:24: unknown key 'step' in each of 'c'; expected one of lines-of, same-as, matrix, rows-of",
      "6:23: each of 'd' is empty; expected one of lines-of, same-as, matrix, rows-of",
      "7:37: second source of values in each of 'e'; expected one",
      "7:46: same-as of 'e' needs a step with 'each', and 'b' has no 'each'"),
    HostileFile(
      #"""
      flow: f
      defaults: [x]
      env: x
      values: [a]
      locks: 3
      steps: {a: {run: [x]}}
      """#,
      "2:11: expected a mapping in defaults, found a list",
      "3:6: expected a mapping in env, found a text",
      "4:9: expected a mapping in values, found a list",
      "5:8: expected a mapping in locks, found a text"),
  ]
}
