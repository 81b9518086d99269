extension String {
  /// The text with every line but the first set in, so that it can stand as one entry of a list.
  var withHangingLines: String {
    split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).joined(separator: "\n  ")
  }
}
