import SystemSupport

extension CommandLine {
  /// The arguments of the process in the bytes of the system, the first one being the program.
  ///
  /// A path among the arguments need not be UTF-8, and `CommandLine.arguments` replaces such bytes. A
  /// slice, so that a parser can remove the arguments from its beginning with `popFirst()`.
  public static var rawArguments: ArraySlice<RawPath> {
    SystemProcess.arguments.map { RawPath(bytes: $0) }[...]
  }
}
