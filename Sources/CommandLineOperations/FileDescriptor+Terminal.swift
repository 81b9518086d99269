import SystemSupport

extension FileDescriptor {
  /// Whether it is a terminal that understands escape sequences, so that lines can be replaced: not
  /// without the environment variable `TERM`, nor with `TERM=dumb`.
  var isScreen: Bool {
    isTerminal && ![nil, "", "dumb"].contains(SystemProcess.variable("TERM"))
  }

  /// Returns a message of a failure with its first line in red, if this stream shows colors: a screen,
  /// unless [NO_COLOR](https://no-color.org) has a value.
  func highlightedFailure(_ text: String) -> String {
    let noColor = SystemProcess.variable("NO_COLOR") ?? ""
    guard isScreen, noColor.isEmpty else { return text }
    let first = text.prefix { $0 != "\n" }
    return "\u{1B}[31m\(first)\u{1B}[39m\(text.dropFirst(first.count))"
  }
}
