import SystemSupport

/// The size of a terminal in characters.
package struct TerminalSize: Sendable {
  package let columns: Int
  package let rows: Int

  package init(columns: Int, rows: Int) { (self.columns, self.rows) = (columns, rows) }

  init(of descriptor: FileDescriptor) { (columns, rows) = descriptor.terminalSize ?? (80, 24) }
}
