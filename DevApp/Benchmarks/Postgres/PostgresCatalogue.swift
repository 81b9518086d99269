#if canImport(PostgresOperations)
  import CompositeOperations
  import DurableOperations
  import PostgresOperations

  /// The shapes of durable flows on PostgreSQL. Each is created when it is measured.
  struct PostgresCatalogue {
    let server: PostgresServer
    /// The folder of the SQLite databases.
    let files: DurableFolder
    var isQuick = false

    /// How many flows run at once in the shapes about steps.
    static let widths = [1, 8, 64]
    static let ids = widths.map { "steps-\($0)" } + ["children", "takeover", "idle", "one-machine"]

    /// The name of the way of this package.
    static let ours = "durable"
    static let pgbench = "pgbench"

    /// Returns the shapes with some names, or all.
    func shapes(named names: [String]) -> [Shape] {
      Self.ids.filter { id in names.isEmpty || names.contains(id) }.compactMap(shape)
    }

    private func shape(_ id: String) -> Shape? {
      switch id {
      case "steps-1": .postgresSteps(id, flows(256, at: 1), on: server)
      case "steps-8": .postgresSteps(id, flows(1_024, at: 8), on: server)
      case "steps-64": .postgresSteps(id, flows(2_048, at: 64), on: server)
      case "children": .postgresChildren(isQuick ? 200 : 1_000, on: server)
      case "takeover": .postgresTakeover(on: server)
      case "idle": .postgresIdle(seconds: isQuick ? 5 : 15, on: server)
      case "one-machine": .oneMachine(flows(2_048, at: 64), in: files)
      default: nil
      }
    }

    private func flows(_ count: Int, at width: Int) -> FlowBatch {
      FlowBatch(count: isQuick ? max(count / 4, width) : count, width: width)
    }
  }
#endif
