extension String {
  /// The text with every line but the first indented, as one entry of a list.
  package var withHangingLines: String {
    split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).joined(separator: "\n  ")
  }
}
