import RecordOperations

/// The imports of the arguments.
extension RecordsArguments {
  private var isStandardInput: Bool { source == "-" }

  func load(into file: SQLiteRecordDatabase) -> ImportRecords {
    func load(from path: String) -> ImportRecords {
      ImportRecords(
        table, into: file, from: path, as: importFormat, existing: existing,
        badRows: .skipped(atMost: skips), references: references, addsColumns: creates,
        rowsPerTransaction: rowsPerTransaction)
    }
    return isStandardInput
      ? ImportRecords.reading(from: 0, called: "standard input", load) : load(from: source)
  }

  func load(into server: any ServedRecordDatabase) -> ImportServedRows {
    ImportServedRows(
      table, into: server, from: isStandardInput ? "standard input" : source,
      open: isStandardInput ? 0 : nil, as: importFormat, existing: existing,
      badRows: .skipped(atMost: skips), references: references, creates: creates,
      rowsPerTransaction: rowsPerTransaction)
  }
}
