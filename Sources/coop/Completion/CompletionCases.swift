/// The table as the cases of `case` statements of bash and zsh.
struct CompletionCases {
  let contexts: [CompletionContext]
  /// The command of the script that completes files.
  let files: String
  /// Returns the command of the script that completes words.
  let words: ([String]) -> String
  /// Returns the command of the script that completes actions or options.
  let described: ([CompletionWord]) -> String

  /// The functions that bash and zsh share.
  var functions: String {
    """
    # Whether a word at this position selects an action.
    _coop_has_actions() {
      case $1 in
    \(actions)
        *) return 1 ;;
      esac
    }

    # Whether an option has a value.
    _coop_takes_value() {
      case $1 in
    \(optionsWithValues)
        *) return 1 ;;
      esac
    }

    _coop_options() {
      case $1 in
    \(options)
      esac
    }

    _coop_value() {
      case $1 in
    \(values)
      esac
    }

    _coop_position() {
      case $1 in
    \(positions)
      esac
    }
    """
  }

  /// The positions where a word selects an action.
  var actions: String {
    let patterns = contexts.compactMap { context in
      context.actionPosition.map { "'\(context.words) \($0)'" }
    }
    return Self.line(patterns, "")
  }

  /// The options that have a value.
  var optionsWithValues: String {
    Self.lines(
      contexts.map { context in
        let names = context.node.options.filter { $0.value != nil }.map(\.name)
        return (names.map { "'\(context.words) \($0)'" }, "")
      })
  }

  /// The options of each context.
  var options: String {
    Self.lines(
      contexts.map { context in
        let words = context.node.options.map { CompletionWord($0.name, $0.summary) }
        return (words.isEmpty ? [] : ["'\(context.words)'"], described(words))
      })
  }

  /// The values of options.
  var values: String {
    Self.lines(
      contexts.flatMap { context in
        context.node.options.compactMap { option in
          option.value.flatMap(command).map { (["'\(context.words) \(option.name)'"], $0) }
        }
      })
  }

  /// The positional arguments, and the actions.
  var positions: String {
    Self.lines(
      contexts.flatMap { context in
        let values = context.positionPatterns.compactMap { pattern, value in
          command(value).map { ([pattern], $0) }
        }
        let words = context.node.actions.map { CompletionWord($0.name, $0.summary) }
        let actions = context.actionPosition.map {
          (["'\(context.words) \($0)'"], described(words))
        }
        return values + (actions.map { [$0] } ?? [])
      })
  }

  /// Returns the command that completes a value; nil if nothing is completed.
  private func command(_ value: CompletionValue) -> String? {
    switch value {
    case .file: files
    case .words(let texts): words(texts)
    case .names(let names): "_coop_names \(names.rawValue)"
    case .text: nil
    }
  }

  private static func lines(_ cases: [(patterns: [String], command: String)]) -> String {
    cases.filter { !$0.patterns.isEmpty }.map { line($0.patterns, $0.command) }
      .joined(separator: "\n")
  }

  private static func line(_ patterns: [String], _ command: String) -> String {
    let space = command.isEmpty ? "" : " "
    return "    \(patterns.joined(separator: " | ")))\(space)\(command) ;;"
  }
}

/// An action or an option with its summary.
struct CompletionWord {
  let name: String
  let summary: String

  init(_ name: String, _ summary: String) { (self.name, self.summary) = (name, summary) }
}
