extension String {
  /// Whether the text is `[A-Za-z_][A-Za-z0-9_]*`: a name that a shell accepts for a variable.
  var isValueName: Bool {
    guard let first = unicodeScalars.first, first.isNameStart else { return false }
    return utf8.count <= FlowLimits.nameCharacters && unicodeScalars.allSatisfy(\.isNameCharacter)
  }

  /// Whether the text is `[A-Za-z0-9._-]+`: the name of a flow, a step or a lock, which can be part
  /// of the name of a file.
  package var isFlowName: Bool {
    !isEmpty && utf8.count <= FlowLimits.nameCharacters && self != "." && self != ".."
      && unicodeScalars.allSatisfy { $0.isNameCharacter || $0 == "." || $0 == "-" }
  }

  /// Whether the shell, or a program that it starts, gives a variable of this name a meaning. Values
  /// are variables in shell texts, so they cannot have such a name.
  var isReservedValueName: Bool {
    let names: Set = [
      "BASH_ENV", "CDPATH", "ENV", "HOME", "IFS", "OLDPWD", "OPTARG", "OPTIND", "PATH", "PPID",
      "PS1", "PS2", "PS4", "PWD", "SHELL",
    ]
    return names.contains(self) || hasPrefix("LD_") || hasPrefix("DYLD_")
  }
}

extension UnicodeScalar {
  var isNameStart: Bool {
    switch self {
    case "A"..."Z", "a"..."z", "_": true
    default: false
    }
  }

  var isNameCharacter: Bool {
    switch self {
    case "0"..."9": true
    default: isNameStart
    }
  }
}
