extension String {
  /// Whether both strings have the same bytes in UTF-8. `==` also holds for strings that are
  /// canonically equivalent.
  package func hasSameBytes(as other: String) -> Bool {
    let one = utf8Span.span
    let two = other.utf8Span.span
    guard one.count == two.count else { return false }
    return unsafe one.withUnsafeBytes { one in
      unsafe two.withUnsafeBytes { two in
        guard let mine = one.baseAddress, let others = two.baseAddress else { return true }
        return unsafe memcmp(mine, others, one.count) == 0
      }
    }
  }
}
