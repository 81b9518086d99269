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

  /// Keeps the successes and the runs. A run without a row in the journal is over.
  func takeOverFormerFlowState() throws {
    try transaction(.immediate) {
      try execute("ALTER TABLE flow_run RENAME TO former_run")
      try execute("DROP TABLE IF EXISTS flow_process")
      try createFlowTables()
      try execute(
        """
        INSERT INTO flow_run
        SELECT flow, number, file, "values", selection, former_run.began, name,
          CASE WHEN id IS NULL OR state = 'cancelled' THEN 'cancelled' WHEN state = 'result' THEN 'succeeded'
            WHEN state = 'error' THEN 'failed' END,
          reason, coalesce(updated, former_run.began), NULL, NULL
        FROM former_run LEFT JOIN (SELECT id, state, reason, updated FROM run) AS run
          ON id = flow || '#' || number
        """)
      for table in ["former_run", "step", "event", "run", "owner"] {
        try execute("DROP TABLE IF EXISTS \(table)")
      }
    }
  }
}
