import SystemSupport

/// The script that completes arguments in bash.
struct BashCompletion {
  private let cases: CompletionCases

  init(_ contexts: [CompletionContext]) {
    cases = CompletionCases(
      contexts: contexts, files: "_coop_files",
      // bash inserts a word as it is. So a word that has to be quoted on a line is quoted twice.
      words: { Self.call($0.map(\.quotedForShell.quotedForShell)) },
      described: { Self.call($0.map(\.name)) })
  }

  private static func call(_ words: [String]) -> String {
    "_coop_words " + words.joined(separator: " ")
  }

  var script: String {
    """
    # Completes the arguments of coop in bash 4 and newer. Printed by `coop completion bash`.

    _coop() {
      COMPREPLY=()
      # bash also splits words at characters such as : and =. Words without a space between them are
      # joined again, up to the cursor.
      local -a words=()
      local line=${COMP_LINE-} rest word i
      line=${line:0:${COMP_POINT:-0}}
      for ((i = 0; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]-}
        if [[ -n ${COMP_LINE-} ]]; then
          rest=${line#"${line%%[![:space:]]*}"}
          ((i < COMP_CWORD)) || word=$rest
          if ((i > 0)) && [[ $rest == "$line" ]]; then
            words[${#words[@]} - 1]+=$word
          else
            words+=("$word")
          fi
          line=${rest#"$word"}
        else
          words+=("$word")
        fi
      done

      local last=$((${#words[@]} - 1)) context='' position=1 option='' ended='' first=''
      local current=${words[last]}
      for ((i = 1; i < last; i++)); do
        word=${words[i]}
        if [[ -n $option ]]; then
          option=''
        elif [[ -z $ended && $word == -?* && $word != -- ]]; then
          ! _coop_takes_value "$context $word" || option=$word
        else
          if [[ $word == -- && -z $ended ]]; then
            ended=yes
            _coop_has_actions "$context $position" || continue
          fi
          if [[ $word == --- ]]; then
            position=1
          elif _coop_has_actions "$context $position"; then
            context=${context:+$context }$word position=1
          else
            ((position != 1)) || first=$word
            ((position++))
          fi
        fi
      done
      if [[ -n $option ]]; then
        _coop_value "$context $option"
      elif [[ -z $ended && $current == -* ]]; then
        _coop_options "$context"
      else
        _coop_position "$context $position"
      fi
    }

    # Completes words, which are quoted for the shell.
    _coop_words() {
      local word
      for word; do
        [[ $word != "$current"* ]] || COMPREPLY+=("$word")
      done
    }

    # Completes names of the flow file that is the first positional argument.
    _coop_names() {
      local unquoted file name
      _coop_unquote "$first"
      file=$unquoted
      _coop_unquote "${words[0]}"
      [[ -n $file ]] || return 0
      while IFS= read -r name; do
        # bash replaces only what follows an equal sign.
        [[ $current == *=* || $name != "$current"* ]] || COMPREPLY+=("$name")
      done < <("$unquoted" completion "$1" "$file" < /dev/null 2> /dev/null)
      [[ $1 != values ]] || compopt -o nospace 2> /dev/null
    }

    # Sets `unquoted` to a word without its quotes, and with the home folder for ~. Nothing else is
    # replaced, so that a completion runs no command of the line.
    _coop_unquote() {
      local word=$1 quote='' char
      unquoted=''
      [[ $word != \\~/* ]] || unquoted=$HOME/ word=${word:2}
      while [[ -n $word ]]; do
        char=${word:0:1} word=${word:1}
        if [[ $char == "$quote" ]]; then
          quote=''
        elif [[ $char == [\\"\\'] && -z $quote ]]; then
          quote=$char
        elif [[ $char == \\\\ && $quote != \\' ]]; then
          # In double quotes, it only changes the meaning of these characters.
          [[ -z $quote || ${word:0:1} == [\\"\\\\\\$\\`] ]] || unquoted+=$char
          unquoted+=${word:0:1} word=${word:1}
        else
          unquoted+=$char
        fi
      done
    }

    # Completes files and folders.
    _coop_files() {
      local value=$current joined='' file
      case $value in
        \\"*) value=${value:1} ;;
        \\'*) value=${value:1} ;;
        *)
          value=${value//\\\\/}
          [[ $value != \\~/* ]] || value=$HOME/${value:2}
          # What precedes the last : or = remains on the line.
          [[ $value != *[:=]* ]] || joined=${value%"${value##*[:=]}"}
          ;;
      esac
      for file in "$value"*; do
        [[ ! -e $file && ! -L $file ]] || COMPREPLY+=("${file#"$joined"}")
      done
      # bash quotes the names, and adds a slash to folders. It prints an error outside of a completion.
      compopt -o filenames 2> /dev/null
    }

    \(cases.functions)

    complete -F _coop coop

    """
  }
}
