#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The three descriptors that a program begins with.
enum StandardDescriptors {
  /// Takes the places of those that were closed, so that no other file is taken for one of them.
  /// What takes the place cannot be used: writing to it is an error, as it would have been.
  static func occupy() {
    for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) == -1 {
      _ = unsafe open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
    }
  }
}
