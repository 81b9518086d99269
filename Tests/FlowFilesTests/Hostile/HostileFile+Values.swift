extension HostileFile {
  static let values: [HostileFile] = [
    HostileFile(
      #"""
      flow: f
      values: {a: "${b} ${a} ${nope} ${each} $", b: "${a}", d: [x]}
      dotenv: ["${x}", "", [a], {b: c}, .env]
      steps: {s: {run: [x], dotenv: x}}
      """#,
      "2:13: '${each}' in value 'a' is not available; only a step with 'each' has it",
      "2:13: 'a' in value 'a' is not an earlier value; move it up",
      "2:13: 'b' in value 'a' is not an earlier value; move it up",
      "2:13: lone '$' in '${b} ${a} ${nope} ${each} $'; write '$$' for a dollar sign",
      "2:13: unknown value 'nope' in value 'a'; declare it in values",
      "2:58: expected a text in value 'd', found a list",
      "3:10: unknown value 'x' in dotenv; declare it in values",
      "3:18: the path in dotenv is empty",
      "3:22: expected a text in dotenv, found a list",
      "3:27: expected a text in dotenv, found a mapping",
      "4:23: unknown key 'dotenv' in step 's'; it belongs to the top level of the file"),
    HostileFile(
      #"""
      flow: f
      steps:
        a: {run: [echo, "${a $b ${", "$$${"]}
      """#,
      "3:19: unterminated '${' in '${a $b ${'; expected '}'",
      "3:32: unterminated '${' in '$$${'; expected '}'"),
    HostileFile(
      #"""
      flow: f
      steps:
        a: {run: [echo, "${nope}"]}
      """#,
      "3:19: unknown value 'nope' in run of 'a'; declare it in values"),
    HostileFile(
      #"""
      flow: f
      values: {version: dev}
      steps:
        a: {run: [echo, "${versoin}"], inputs: ["${Version}"]}
      """#,
      "4:19: unknown value 'versoin' in run of 'a'; did you mean 'version'?",
      "4:43: unknown value 'Version' in inputs of 'a'; did you mean 'version'?"),
    HostileFile(
      #"""
      flow: f
      steps:
        a: {run: [echo, "${each}"], outputs: ["x/${each}"], in: "${each}", stdin: "${each}", env: {A: "${each}"}, only-if: [test, "${each}"]}
      """#,
      "3:19: '${each}' in run of 'a' is not available; the step has no 'each'",
      "3:41: '${each}' in outputs of 'a' is not available; the step has no 'each'",
      "3:59: '${each}' in in of 'a' is not available; the step has no 'each'",
      "3:77: '${each}' in stdin of 'a' is not available; the step has no 'each'",
      "3:97: '${each}' in variable 'A' in env of 'a' is not available; the step has no 'each'",
      "3:125: '${each}' in only-if of 'a' is not available; the step has no 'each'"),
    HostileFile(
      #"""
      flow: f
      env: {A: "${each}"}
      defaults: {in: "${each}", env: {B: "${each}"}}
      steps: {a: {run: [x], each: ["${each}"]}}
      """#,
      "2:10: '${each}' in variable 'A' in env is not available; only a step with 'each' has it",
      "3:16: '${each}' in in of defaults is not available; only a step with 'each' has it",
      "3:36: '${each}' in variable 'B' in env of defaults is not available; only a step with 'each' has it",
      "4:30: '${each}' in each of 'a' is not available; it comes from this field"),
    HostileFile(
      #"""
      flow: f
      steps:
        a: {run: [echo, "${a", "x$", "a$b", "$1", "${}", "${a b}", "${a-b}", "$${", "$$a", "${${a}}"]}
      """#,
      "3:19: unterminated '${' in '${a'; expected '}'",
      "3:26: lone '$' in 'x$'; write '$$' for a dollar sign",
      "3:32: lone '$' in 'a$b'; write '${b}' for a value, or '$$' for a dollar sign",
      "3:39: lone '$' in '$1'; write '$$' for a dollar sign",
      "3:45: invalid name '' in '${}'; expected letters, digits and '_', as in ${version}",
      "3:52: invalid name 'a b' in '${a b}'; expected letters, digits and '_', as in ${version}",
      "3:62: invalid name 'a-b' in '${a-b}'; expected letters, digits and '_', as in ${version}",
      "3:86: invalid name '${a' in '${${a}}'; expected letters, digits and '_', as in ${version}"),
    HostileFile(
      #"""
      flow: f
      steps:
        a:
          run: [echo, a
            $b]
      """#,
      "4:17: lone '$' in 'a $b'; write '${b}' for a value, or '$$' for a dollar sign"),
    HostileFile(
      #"""
      flow: f
      values: {v: ""}
      steps: {a: {run: ["${v}", "${w}"]}, b: {run: "${w} $w"}}
      """#,
      "3:27: unknown value 'w' in run of 'a'; declare it in values"),
    HostileFile(
      #"""
      flow: f
      env: {A: "${x}"}
      defaults: {in: "${y}"}
      steps: {a: {run: [x], each: "${z}/*", only-if: ["${w}"], stdin: "${v}", env: {B: "${u}"}}}
      """#,
      "2:10: unknown value 'x' in variable 'A' in env; declare it in values",
      "3:16: unknown value 'y' in in of defaults; declare it in values",
      "4:29: unknown value 'z' in each of 'a'; declare it in values",
      "4:49: unknown value 'w' in only-if of 'a'; declare it in values",
      "4:65: unknown value 'v' in stdin of 'a'; declare it in values",
      "4:82: unknown value 'u' in variable 'B' in env of 'a'; declare it in values"),
  ]
}
