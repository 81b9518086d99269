package enum Processors {
  /// The number of online processors, at least 1.
  package static let count = max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))
}
