extension HostileFile {
  static let numbers: [HostileFile] = [
    HostileFile(
      #"""
      flow: f
      steps:
        a: {run: [x], timeout: 10 minutes}
      """#,
      "3:26: invalid duration '10 minutes'; expected a number and ms, s, m or h, such as 10m"),
    HostileFile(
      #"""
      flow: f
      defaults: {timeout: 10, backoff: s}
      steps:
        a: {run: [x], timeout: -1s, backoff: 1.s}
        b: {run: [x], timeout: .5s, backoff: 1d}
        c: {run: [x], timeout: 1 s, backoff: 1e3s}
        d: {run: [x], timeout: "", backoff: 1.1234567891s}
        e: {run: [x], timeout: [1s], backoff: {s: 1}}
        f: {run: [x], timeout: ١s, backoff: +1s}
        g: {run: [x], timeout: 5M, backoff: 1us}
      """#,
      "2:21: invalid duration '10'; expected a number and ms, s, m or h, such as 10m",
      "2:34: invalid duration 's'; expected a number and ms, s, m or h, such as 10m",
      "4:26: invalid duration '-1s'; expected a number and ms, s, m or h, such as 10m",
      "4:40: invalid duration '1.s'; expected a number and ms, s, m or h, such as 10m",
      "5:26: invalid duration '.5s'; expected a number and ms, s, m or h, such as 10m",
      "5:40: invalid duration '1d'; expected a number and ms, s, m or h, such as 10m",
      "6:26: invalid duration '1 s'; expected a number and ms, s, m or h, such as 10m",
      "6:40: invalid duration '1e3s'; expected a number and ms, s, m or h, such as 10m",
      "7:26: invalid duration ''; expected a number and ms, s, m or h, such as 10m",
      "7:39: invalid duration '1.1234567891s'; expected a number and ms, s, m or h, such as 10m",
      "8:26: expected a text in timeout of 'e', found a list",
      "8:41: expected a text in backoff of 'e', found a mapping",
      "9:26: invalid duration '١s'; expected a number and ms, s, m or h, such as 10m",
      "9:39: invalid duration '+1s'; expected a number and ms, s, m or h, such as 10m",
      "10:26: invalid duration '5M'; expected a number and ms, s, m or h, such as 10m",
      "10:39: invalid duration '1us'; expected a number and ms, s, m or h, such as 10m"),
    HostileFile(
      #"""
      flow: f
      steps:
        a: {run: [x], timeout: 0s}
        b: {run: [x], timeout: 0.0ms}
        c: {run: [x], timeout: 8761h}
        d: {run: [x], timeout: 99999999999999999999h}
        e: {run: [x], timeout: 9223372036854775807h}
        f: {run: [x], backoff: 8760.1h}
      """#,
      "3:26: timeout of 'a' is 0; expected a longer duration",
      "4:26: timeout of 'b' is 0; expected a longer duration",
      "5:26: the duration '8761h' is too long; the limit is 8760h",
      "6:26: the duration '99999999999999999999h' is too long; the limit is 8760h",
      "7:26: the duration '9223372036854775807h' is too long; the limit is 8760h",
      "8:26: the duration '8760.1h' is too long; the limit is 8760h"),
    HostileFile(
      #"""
      flow: f
      width: 0
      defaults: {retries: -1, width: 99999}
      steps:
        a: {run: [x], retries: many}
        b: {run: [x], retries: 1.0}
        c: {run: [x], retries: 1001}
        d: {run: [x], retries: 99999999999999999999999}
        e: {run: [x], retries: }
        f: {run: [x], retries: [1]}
        g: {run: [x], retries: 0x10}
        h: {run: [x], retries: 1_000}
        i: {run: [x], retries: ~}
        j: {run: [x], retries: +1}
        k: {run: [x], width: 2}
        l: {run: [x], width: 0, each: []}
      """#,
      "2:8: invalid number '0' in width; expected a whole number from 1 to 10000",
      "3:21: invalid number '-1' in retries of defaults; expected a whole number from 0 to 1000",
      "3:32: invalid number '99999' in width of defaults; expected a whole number from 1 to 10000",
      "5:26: invalid number 'many' in retries of 'a'; expected a whole number from 0 to 1000",
      "6:26: invalid number '1.0' in retries of 'b'; expected a whole number from 0 to 1000",
      "7:26: invalid number '1001' in retries of 'c'; expected a whole number from 0 to 1000",
      "8:26: invalid number '99999999999999999999999' in retries of 'd'; expected a whole number from 0 to 1000",
      "9:26: expected a text in retries of 'e', found nothing",
      "10:26: expected a text in retries of 'f', found a list",
      "11:26: invalid number '0x10' in retries of 'g'; expected a whole number from 0 to 1000",
      "12:26: invalid number '1_000' in retries of 'h'; expected a whole number from 0 to 1000",
      "13:26: invalid number '~' in retries of 'i'; expected a whole number from 0 to 1000",
      "14:26: invalid number '+1' in retries of 'j'; expected a whole number from 0 to 1000",
      "15:24: width of 'k' has no effect without 'each'",
      "16:24: invalid number '0' in width of 'l'; expected a whole number from 1 to 10000"),
    HostileFile(
      #"""
      flow: f
      steps:
        a: {run: [x], accept: [0, 256]}
        b: {run: [x], accept: [-1]}
        c: {run: [x], accept: []}
        d: {run: [x], accept: all}
        e: {run: [x], accept: {0: 1}}
        f: {run: [x], accept: [[0]]}
      """#,
      "3:29: invalid number '256' in accept of 'a'; expected a whole number from 0 to 255",
      "4:26: invalid number '-1' in accept of 'b'; expected a whole number from 0 to 255",
      "5:25: accept of 'c' is empty; expected an exit status",
      "6:25: invalid number 'all' in accept of 'd'; expected a whole number from 0 to 255",
      "7:25: expected a text or a list in accept of 'e', found a mapping",
      "8:26: expected a text in accept of 'f', found a list"),
    HostileFile(
      #"""
      flow: f
      stop-grace: 10
      defaults: {stop-grace: soon}
      steps:
        a: {run: [x], stop-grace: 0s, interactive: yes}
        b: {run: [x], interactive: true, stdin: x}
        c: {run: [x], each: {lines-of: b}}
      """#,
      "2:13: invalid duration '10'; expected a number and ms, s, m or h, such as 10m",
      "3:24: invalid duration 'soon'; expected a number and ms, s, m or h, such as 10m",
      "5:46: invalid text 'yes' in interactive of 'a'; expected true or false",
      "6:43: stdin of 'b' has no effect: the step is interactive",
      "7:34: each of 'c' reads the output of 'b', which is interactive and writes to the terminal"
    ),
  ]
}
