/// The maximum size of the rows of a file. A larger row is skipped and is a ``RowProblem``, so that
/// a hostile or unsuitable file needs no more memory than that.
package struct RowLimits: Hashable, Sendable {
  /// The maximum size of a cell in bytes. It does not apply to JSON, where an object is read as a
  /// whole.
  package var cellBytes: Int
  /// The maximum size of a row in bytes, without its line ending; in JSON, of an object.
  package var rowBytes: Int
  /// The maximum number of cells of a row; in JSON, of fields of an object and elements of its
  /// lists. Each needs memory, even if it is empty.
  package var cells: Int

  package init(cellBytes: Int = 1 << 30, rowBytes: Int = 1 << 30, cells: Int = 1 << 20) {
    self.cellBytes = cellBytes
    self.rowBytes = rowBytes
    self.cells = cells
  }
}
