/// The limits of flow files. They are far above the needs of a flow, and bound the time and the
/// memory that a hostile file takes.
enum FlowLimits {
  /// The size of a file, in bytes.
  static let bytes = 4 << 20
  /// The number of lists and mappings that are nested in each other.
  static let depth = 32
  /// The number of texts, lists and mappings of a file.
  static let nodes = 500_000
  /// The number of nodes that aliases add to a file.
  static let aliasedNodes = 1_000
  /// The number of bytes of a value that uses other values. Linux permits as many in an argument.
  static let valueBytes = 128 << 10
  /// The number of characters of a name, which is also the name of a log file.
  static let nameCharacters = 128
  /// The number of problems that are reported one by one.
  static let problems = 1_000
}
