/// The script that completes arguments in zsh.
struct ZshCompletion {
  private let cases: CompletionCases

  init(_ contexts: [CompletionContext]) {
    cases = CompletionCases(
      contexts: contexts, files: "_files", programs: "_DevApp_programs",
      words: { words in
        "_wanted values expl value compadd -- "
          + words.map(\.quotedForShell).joined(separator: " ")
      },
      described: { words in
        let texts = words.map { word in
          let parts = word.summary.split(separator: ":", omittingEmptySubsequences: false)
          return "\(word.name):\(parts.joined(separator: #"\:"#))".quotedForShell
        }
        return "_DevApp_describe \(texts.joined(separator: " "))"
      })
  }

  var script: String {
    """
    #compdef DevApp
    # Completes the arguments of DevApp in zsh. Printed by `DevApp completion zsh`.

    _DevApp() {
      local selected='' position=1 option='' ended='' word expl i
      for ((i = 2; i < CURRENT; i++)); do
        word=$words[i]
        if [[ -n $option ]]; then
          option=''
        elif [[ -z $ended && $word == -?* && $word != -- ]]; then
          ! _DevApp_takes_value "$selected $word" || option=$word
        else
          if [[ $word == -- && -z $ended ]]; then
            ended=yes
            _DevApp_has_actions "$selected $position" || continue
          fi
          if [[ $word == --- ]]; then
            position=1
          elif _DevApp_has_actions "$selected $position"; then
            selected=${selected:+$selected }$word position=1
          else
            ((position++))
          fi
        fi
      done
      if [[ -n $option ]]; then
        _DevApp_value "$selected $option"
      elif [[ -z $ended && $words[CURRENT] == -* ]]; then
        _DevApp_options "$selected"
      else
        _DevApp_position "$selected $position"
      fi
    }

    # Completes words with descriptions, as in `NAME:DESCRIPTION`.
    _DevApp_describe() {
      local -a described=("$@")
      _describe argument described
    }

    _DevApp_programs() {
      _alternative 'commands:program:_command_names -e' 'files:file:_files'
    }

    \(cases.functions)

    # As a file in the function path, this script is the body of the function.
    if [[ $funcstack[1] == _DevApp ]]; then
      _DevApp "$@"
    else
      compdef _DevApp DevApp
    fi

    """
  }
}
