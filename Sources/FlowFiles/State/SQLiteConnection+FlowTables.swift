import SQLiteSupport

extension SQLiteConnection {
  /// Whether the file is the state of a flow that is also a journal of durable runs, as it was before
  /// version 0.1.0.
  var isFormerFlowState: Bool {
    get throws {
      try fetchOne(
        """
        SELECT 1 FROM sqlite_schema, pragma_application_id
        WHERE name = 'flow_run' AND application_id = \(0x434F_464C)
        """
      ) { _ in true } ?? false
    }
  }

  /// Creates the tables that are missing.
  func createFlowTables() throws {
    for table in FlowJournal.tables + FlowJournal.commandTables { try execute(table) }
    try setSchemaVersion(FlowJournal.version, applicationID: FlowStateFile.applicationID)
  }

  /// Keeps the successes. The runs are over, because only the journal has their states.
  func takeOverFormerFlowState() throws {
    try transaction(.immediate) {
      try execute("ALTER TABLE flow_run RENAME TO former_run")
      try createFlowTables()
      try execute(
        """
        INSERT INTO flow_run
        SELECT flow, number, file, "values", selection, began, name, 'cancelled',
          'an earlier version of the program has run it', began, NULL, NULL FROM former_run
        """)
      for table in ["former_run", "step", "event", "run", "owner"] {
        try execute("DROP TABLE IF EXISTS \(table)")
      }
    }
  }
}
