/// The script that completes arguments in fish.
struct FishCompletion {
  let contexts: [CompletionContext]

  init(_ contexts: [CompletionContext]) { self.contexts = contexts }

  var script: String {
    """
    # Completes the arguments of coop in fish 3 and newer. Printed by `coop completion fish`.

    # Prints the words that select what may follow, the number of the next position, and the first
    # positional argument.
    function __coop_state
        set -l selected
        set -l position 1
        set -l option
        set -l ended
        set -l first
        set -l words (commandline -opc)
        for word in $words[2..-1]
            if test -n "$option"
                set option
            else if test -z "$ended"; and string match -qr '^-.' -- $word; and test "x$word" != x--
                if contains -- "$selected $word" $__coop_options_with_values
                    set option $word
                end
            else
                if test -z "$ended"; and test "x$word" = x--
                    set ended yes
                    contains -- "$selected $position" $__coop_actions; or continue
                end
                if test "x$word" = x---
                    set position 1
                else if contains -- "$selected $position" $__coop_actions
                    set selected (string trim -- "$selected $word")
                    set position 1
                else
                    test $position -ne 1; or set first $word
                    set position (math $position + 1)
                end
            end
        end
        printf '%s\\n' "$selected" $position "$first"
    end

    # Prints names of the flow file that is the first positional argument.
    function __coop_names
        set -l file (__coop_state)[3]
        set -l words (commandline -opc)
        test -n "$file"; or return
        # The text of a value is not completed.
        string match -q '*=*' -- (commandline -ct); and return
        if string match -q '~/*' -- $file
            set file $HOME/(string sub -s 3 -- $file)
        end
        $words[1] completion $argv[1] $file < /dev/null 2> /dev/null
    end

    # Whether these words precede the cursor.
    function __coop_after
        set -l state (__coop_state)
        test "x$state[1]" = "x$argv[1]"
    end

    # Whether the cursor is after these words, at this position or, with a third argument, at a later one.
    function __coop_at
        set -l state (__coop_state)
        test "x$state[1]" = "x$argv[1]"; or return
        test $state[2] -eq $argv[2]; or test -n "$argv[3]" -a $state[2] -gt $argv[2]
    end

    # The positions where a word selects an action.
    set -g __coop_actions \(quoted(actions))

    # The options that have a value.
    set -g __coop_options_with_values \(quoted(optionsWithValues))

    complete -c coop -e
    complete -c coop -f
    \(contexts.flatMap(lines).joined(separator: "\n"))

    """
  }

  private var actions: [String] {
    contexts.compactMap { context in context.actionPosition.map { "\(context.words) \($0)" } }
  }

  private var optionsWithValues: [String] {
    contexts.flatMap { context in
      context.node.options.filter { $0.value != nil }.map { "\(context.words) \($0.name)" }
    }
  }

  private func lines(_ context: CompletionContext) -> [String] {
    let node = context.node
    let words = quoted(context.words)
    let positions = node.positions.enumerated().compactMap { index, value in
      let isRepeated = node.repeatsLastPosition && index == node.positions.count - 1
      let condition = "__coop_at \(words) \(index + 1)\(isRepeated ? " more" : "")"
      return flags(value).map { line(condition, $0) }
    }
    let actions = node.actions.map { action in
      line(
        "__coop_at \(words) \(node.positions.count + 1)",
        "-a \(quoted(action.name)) -d \(quoted(action.summary))")
    }
    let options = node.options.map { option in
      let value = option.value.map { " -r \(flags($0) ?? "-f")" } ?? ""
      return line(
        "__coop_after \(words)",
        "-l \(option.name.dropFirst(2))\(value) -d \(quoted(option.summary))")
    }
    return positions + actions + options
  }

  private func line(_ condition: String, _ flags: String) -> String {
    "complete -c coop -n \(quoted(condition)) \(flags)"
  }

  /// Returns the flags that complete a value; nil if nothing is completed.
  private func flags(_ value: CompletionValue) -> String? {
    switch value {
    case .file: "-F"
    case .words(let words): "-f -a \(quoted(words.map(quoted).joined(separator: " ")))"
    case .names(let names): "-f -a '(__coop_names \(names.rawValue))'"
    case .text: nil
    }
  }

  private func quoted(_ texts: [String]) -> String {
    texts.map(quoted).joined(separator: " ")
  }

  /// The text in single quotes, for fish.
  private func quoted(_ text: String) -> String {
    let escaped = text.map { "'\\".contains($0) ? "\\\($0)" : "\($0)" }.joined()
    return "'\(escaped)'"
  }
}
