/// How large the rows of a file may be that is read. A row that is larger is left out, and is a ``RowProblem``: what is
/// hostile, or no such file at all, costs no more memory than that.
package struct RowLimits: Hashable, Sendable {
  /// How many bytes a cell of a row may have; in JSON, where an object is read as a whole, it is not looked at.
  package var cellBytes: Int
  /// How many bytes a row may have in the file, without the end of its line; in JSON, an object.
  package var rowBytes: Int
  /// How many cells a row may have; in JSON, fields of an object and elements of the lists in it. Each costs some
  /// memory even where it is empty.
  package var cells: Int

  package init(cellBytes: Int = 1 << 30, rowBytes: Int = 1 << 30, cells: Int = 1 << 20) {
    self.cellBytes = cellBytes
    self.rowBytes = rowBytes
    self.cells = cells
  }
}
