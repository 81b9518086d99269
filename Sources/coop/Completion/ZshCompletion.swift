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
      local selected='' position=1 option='' ended='' first='' word expl i
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
            ((position != 1)) || first=$word
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

    # Completes names of the flow file that is the first positional argument.
    _coop_names() {
      local file=${(Q)first}
      [[ -n $file ]] || return 1
      [[ $first != \\~/* ]] || file=$HOME/${file:2}
      local -a names suffix
      names=(${(f)"$(${(Q)words[1]} completion $1 "$file" < /dev/null 2> /dev/null)"})
      # The text of a value follows its name and the equal sign.
      [[ $1 != values ]] || suffix=(-S '')
      _wanted names expl name compadd "${suffix[@]}" -- $names
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
