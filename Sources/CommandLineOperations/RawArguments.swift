import SystemSupport

extension CommandLine {
  /// The arguments as bytes, because a path among them need not be UTF-8.
  public static var rawArguments: ArraySlice<RawPath> {
    SystemProcess.arguments.map { RawPath(bytes: $0) }[...]
  }
}
