import SystemSupport

/// The script that completes arguments in zsh.
struct ZshCompletion {
  private let cases: CompletionCases

  init(_ contexts: [CompletionContext]) {
    cases = CompletionCases(
      contexts: contexts, files: "_files",
      words: { words in
        "_wanted values expl value compadd -- "
          + words.map(\.quotedForShell).joined(separator: " ")
      },
      described: { words in
        let texts = words.map { word in
          let parts = word.summary.split(separator: ":", omittingEmptySubsequences: false)
          return "\(word.name):\(parts.joined(separator: #"\:"#))".quotedForShell
        }
        return "_coop_describe \(texts.joined(separator: " "))"
      })
  }

  var script: String {
    """
    #compdef coop
    # Completes the arguments of coop in zsh. Printed by `coop completion zsh`.

    _coop() {
      local selected='' position=1 option='' ended='' word expl i
      for ((i = 2; i < CURRENT; i++)); do
        word=$words[i]
        if [[ -n $option ]]; then
          option=''
        elif [[ -z $ended && $word == -?* && $word != -- ]]; then
          ! _coop_takes_value "$selected $word" || option=$word
        else
          if [[ $word == -- && -z $ended ]]; then
            ended=yes
            _coop_has_actions "$selected $position" || continue
          fi
          if [[ $word == --- ]]; then
            position=1
          elif _coop_has_actions "$selected $position"; then
            selected=${selected:+$selected }$word position=1
          else
            ((position++))
          fi
        fi
      done
      if [[ -n $option ]]; then
        _coop_value "$selected $option"
      elif [[ -z $ended && $words[CURRENT] == -* ]]; then
        _coop_options "$selected"
      else
        _coop_position "$selected $position"
      fi
    }

    # Completes words with descriptions, as in `NAME:DESCRIPTION`.
    _coop_describe() {
      local -a described=("$@")
      _describe argument described
    }

    \(cases.functions)

    # As a file in the function path, this script is the body of the function.
    if [[ $funcstack[1] == _coop ]]; then
      _coop "$@"
    else
      compdef _coop coop
    fi

    """
  }
}
