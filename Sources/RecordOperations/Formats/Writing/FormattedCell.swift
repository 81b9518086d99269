/// A cell whose bytes are wherever a database has them. It lives as long as they do, which nobody checks.
@unsafe package enum FormattedCell {
  case null
  case integer(Int64)
  case double(Double)
  /// In UTF-8.
  case text(UnsafeRawBufferPointer)
  case bytes(UnsafeRawBufferPointer)
  /// Text that is JSON already: a list.
  case json(UnsafeRawBufferPointer)
}
