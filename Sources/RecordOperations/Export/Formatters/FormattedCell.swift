/// A cell whose buffer belongs to a database. It must not outlive the buffer, which is not checked.
@unsafe package enum FormattedCell {
  case null
  case integer(Int64)
  case double(Double)
  /// UTF-8.
  case text(UnsafeRawBufferPointer)
  case bytes(UnsafeRawBufferPointer)
  /// A list that is already JSON.
  case json(UnsafeRawBufferPointer)
}
