import Foundation
import TestSupport

/// A shell that completes lines with the script of `coop completion`.
struct CompletionShell: Sendable, CustomStringConvertible {
  let description: String
  fileprivate let program: Program
  /// A script that sources its first argument, completes the lines, and prints their candidates, each
  /// on a line, with a line `=` after those of each line.
  private let driver: String
  private let arguments: @Sendable (String) -> [String]
  /// Returns the candidates in what was printed for a line.
  private let candidates: @Sendable (_ printed: [String], _ line: String) -> [String]

  static let bash = CompletionShell(
    description: "bash",
    program: Program(executable: URL(fileURLWithPath: "/bin/bash"), arguments: []),
    driver: #"""
      source "$1"
      shift
      while (($# > 0)); do
        COMP_WORDS=("${@:2:$1}") COMP_CWORD=$(($1 - 1))
        shift "$((1 + $1))"
        COMP_LINE=$1 COMP_POINT=${#1}
        shift
        _coop
        ((${#COMPREPLY[@]} == 0)) || printf '%s\n' "${COMPREPLY[@]}"
        echo =
      done
      """#,
    arguments: { line in
      let words = pieces(of: line)
      return ["\(words.count)"] + words + [line]
    }, candidates: { printed, _ in printed })

  /// zsh completes only in a terminal. A key inserts all candidates into the line, and another one
  /// prints it.
  private static let zsh = installed(
    "zsh",
    driver: #"""
      zmodload zsh/zpty
      zpty -b shell 'zsh -f -i'
      zpty -w shell 'PS1=; autoload -U compinit; compinit -u -D; unsetopt beep'
      zpty -w shell "source ${(q)1}; cd ${(q)PWD}"
      zpty -w shell 'zle -C all complete-word _generic; bindkey "^Xa" all'
      zpty -w shell 'zstyle ":completion:all:*" completer _all_matches _complete'
      zpty -w shell 'zstyle ":completion:all:*" insert yes'
      zpty -w shell 'show() { print -r -- "<<$BUFFER>>"; BUFFER= }; zle -N show; bindkey "^Xb" show'
      zpty -w shell 'print rea""dy'
      zpty -r shell text '*ready*'
      shift
      for line; do
        zpty -n -w shell "$line"$'\C-Xa\C-Xb'
        zpty -r shell text '*<<*>>*'
        print -r -- "${${text##*<<}%%>>*}"
        print =
      done
      zpty -d shell
      """#,
    candidates: { printed, line in
      guard let completed = printed.first, completed != line else { return [] }
      let start = words(of: line).dropLast().map { $0 + " " }.joined()
      return words(of: String(completed.dropFirst(start.count))).filter { !$0.isEmpty }
        .map { $0.replacingOccurrences(of: "\\", with: "") }
    })

  private static let fish = installed(
    "fish",
    driver: """
      source $argv[1]
      for line in $argv[2..-1]
        complete -C $line
        echo =
      end
      """,
    candidates: { printed, _ in printed.map { String($0.prefix { $0 != "\t" }) } })

  /// The shells of this machine. Prints a line for each that is missing.
  static let all = [bash] + [zsh, fish].compactMap { $0 }

  private static func installed(
    _ name: String, driver: String,
    candidates: @escaping @Sendable ([String], String) -> [String]
  ) -> CompletionShell? {
    guard let program = Program.installed(name) else {
      print("\(name) is not installed; its completions are not tested.")
      return nil
    }
    return CompletionShell(
      description: name, program: program, driver: driver, arguments: { [$0] },
      candidates: candidates)
  }

  /// Returns the sorted candidates for the last word of each line. Folders have no slash at the end.
  func complete(_ lines: [String], in folder: TemporaryFolder) async throws -> [[String]] {
    let files = try TemporaryFolder()
    let script = try files.write(
      try await Program.coop("completion", description).run().output, to: "script")
    let driver = try files.write(driver, to: "driver")
    var program = program
    program.folder = folder.url
    // The scripts run the program of the line.
    let coop = Program.coop().executable.deletingLastPathComponent().path
    let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
    program.environment["PATH"] = "\(coop):\(path)"
    program.arguments = [driver.path, script.path] + lines.flatMap(arguments)
    let printed = try await program.run()
    guard printed.status == 0, printed.error.isEmpty else { throw ShellError(printed: printed) }
    let parts = printed.text.split(separator: "\n").map(String.init).split(
      separator: "=", omittingEmptySubsequences: false)
    return zip(parts, lines).map { part, line in
      candidates(Array(part), line).map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 }.sorted()
    }
  }

  private struct ShellError: Error {
    let printed: ProgramResult
  }

  /// The words of a line, with their quotes.
  private static func words(of line: String) -> [String] {
    var words = [""]
    var isEscaped = false
    var quote: Character?
    for character in line {
      if !isEscaped, character == quote || quote == nil && "'\"".contains(character) {
        quote = quote == nil ? character : nil
      }
      if character == " ", !isEscaped, quote == nil {
        words.append("")
      } else {
        words[words.count - 1].append(character)
      }
      isEscaped = character == "\\" && !isEscaped
    }
    return words
  }

  /// The words of a line as bash passes them, which it also splits at colons.
  private static func pieces(of line: String) -> [String] {
    words(of: line).flatMap { word in
      let parts = word.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
      return Array(parts.map { [$0] }.joined(separator: [":"]))
    }
  }
}
