internal import SystemSupport

extension FlowStep {
  /// Returns the definition of the step: a step with the same definition, the same inputs and
  /// unchanged outputs need not run again.
  ///
  /// It is JSON with sorted keys:
  ///
  /// | key | contents |
  /// |---|---|
  /// | `accept` | the exit statuses, sorted |
  /// | `env` | the variables of `env`, with their texts. A program can read all of them, so all count. |
  /// | `environment` | of the process's other variables, those that a shell text uses |
  /// | `in` | the working directory as it is in the file; absent without one |
  /// | `run` | the commands as they are in the file: a text for a shell text, a list for a program |
  /// | `shell` | the shell of a text, as it is in the file; absent without a text and for the default |
  /// | `stdin` | the file for the standard input; absent without one |
  /// | `values` | the values that the step uses |
  ///
  /// A shell text uses a name if the name is in it as `$name`, as `${name` or between `$((` and `))`,
  /// also in quotes and comments. A program that reads a variable under a computed name, such as
  /// `printenv "$prefix"_PATH`, uses a name that the definition does not show.
  ///
  /// The children of a step with `each` have the same definition; their values identify them.
  ///
  /// - Parameters:
  ///   - values: The values of the flow, by name.
  ///   - environment: The variables of the process.
  ///   - secrets: A keyed hash of texts that have some of them is in the definition.
  ///   - key: The key of the hashes.
  package func definition(
    values: [String: String], environment: [String: String], hashing secrets: FlowSecrets = .none,
    with key: String = ""
  ) -> String {
    func texts(_ variables: [String: String]) -> [String: String] {
      if secrets.isEmpty { return variables }
      return Dictionary(
        uniqueKeysWithValues: variables.map { name, text in
          let isSecret = secrets.areFound(in: Array(text.utf8))
          return (name, isSecret ? "secret:" + text.hash(of: name, key: key) : text)
        })
    }
    let own = Dictionary(
      self.environment.map { ($0.name, $0.text.text(values)) }, uniquingKeysWith: { $1 })
    // The variables of a process are many, and steps use few.
    func used(_ names: Set<String>, of texts: [String: String]) -> [String: String] {
      Dictionary(names.compactMap { name in texts[name].map { (name, $0) } }) { $1 }
    }
    var shellNames: Set<String> = []
    for case .shell(let text) in commands { shellNames.formUnion(text.shellNames) }
    let usedNames = shellNames.union(definedTemplates.flatMap(\.names))
    var json = JSONWriter()
    json.object { json in
      json.member("accept", accept.sorted())
      json.members("env", texts(own))
      json.members(
        "environment",
        texts(
          used(shellNames, of: environment).filter { own[$0.key] == nil && values[$0.key] == nil }))
      if let directory { json.member("in", directory.source) }
      json.name("run")
      json.array { json in
        for command in commands {
          switch command {
          case .shell(let text): json.string(text)
          case .program(let words):
            json.array { json in for word in words { json.string(word.source) } }
          }
        }
      }
      if usedShell.map(\.source) != Self.defaultShell, !usedShell.isEmpty {
        json.member("shell", usedShell.map(\.source))
      }
      if let standardInput { json.member("stdin", standardInput.source) }
      json.members("values", used(usedNames, of: values))
    }
    return json.text
  }

  /// The templates of the definition. The texts of variables are in it, so they are not included.
  private var definedTemplates: [FlowTemplate] {
    commands.flatMap { if case .program(let words) = $0 { words } else { [] as [FlowTemplate] } }
      + [directory, standardInput].compactMap(\.self) + usedShell
  }

  /// All templates that may use `each`.
  var templates: [FlowTemplate] {
    var condition: [FlowTemplate] = []
    if case .program(let words)? = onlyIf { condition = words }
    return definedTemplates + shell + condition + inputs + outputs
      + options.value.ownEnvironment.map(\.text)
  }

  static let defaultShell = ["/bin/sh", "-eu", "-c"]

  /// The shell, if a command is a text.
  private var usedShell: [FlowTemplate] {
    commands.contains { if case .shell = $0 { true } else { false } } ? shell : []
  }
}

extension JSONWriter {
  fileprivate mutating func members(_ name: String, _ texts: [String: String]) {
    self.name(name)
    object { json in
      for (name, text) in texts.sorted(by: { $0.key < $1.key }) { json.member(name, text) }
    }
  }
}

extension String {
  /// SHA-256 of a key, a name and the text.
  fileprivate func hash(of name: String, key: String) -> String {
    var hash = ContentHash()
    hash.append(Array("\(key)\0\(name)\0\(self)".utf8).span)
    return hash.text
  }

  /// The names of the variables that the text uses as a shell text. Quotes are not considered, so the
  /// set can have more names than the shell would read.
  var shellNames: Set<String> {
    var names: Set<String> = []
    var rest = unicodeScalars[...]
    var arithmeticDepth = 0
    while let scalar = rest.first {
      if scalar == "$", rest.dropFirst().first == "(", rest.dropFirst(2).first == "(" {
        arithmeticDepth += 1
        rest = rest.dropFirst(3)
      } else if scalar == ")", arithmeticDepth > 0, rest.dropFirst().first == ")" {
        arithmeticDepth -= 1
        rest = rest.dropFirst(2)
      } else if scalar == "$" {
        rest = rest.dropFirst()
        if rest.first == "{" {
          rest = rest.dropFirst()
          // The length of a variable: ${#name}.
          if rest.first == "#" { rest = rest.dropFirst() }
        }
        if rest.first?.isNameStart == true { names.insert(rest.removeName()) }
      } else if scalar.isNameCharacter {
        let word = rest.removeName()
        if arithmeticDepth > 0, scalar.isNameStart { names.insert(word) }
      } else {
        rest = rest.dropFirst()
      }
    }
    return names
  }
}

extension Substring.UnicodeScalarView {
  /// Removes the characters of names at the beginning, and returns them.
  fileprivate mutating func removeName() -> String {
    let name = prefix { $0.isNameCharacter }
    self = self[name.endIndex...]
    return String(name)
  }
}
