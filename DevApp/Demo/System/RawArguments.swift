#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

extension CommandLine {
  /// The arguments as bytes, because a path among them need not be UTF-8.
  static var rawArguments: ArraySlice<RawPath> {
    let arguments = (0..<Int(argc)).compactMap { index -> RawPath? in
      guard let argument = unsafe unsafeArgv[index] else { return nil }
      let bytes = unsafe UnsafeRawBufferPointer(start: argument, count: strlen(argument))
      return unsafe RawPath(bytes: bytes)
    }
    return arguments[...]
  }
}

/// Ends the process.
func exitProcess(_ status: Int32) -> Never { exit(status) }
