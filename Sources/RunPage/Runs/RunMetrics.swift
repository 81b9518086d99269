import DurableOperations

/// The totals of the runs of a store as Prometheus reads them.
///
/// All of them are gauges: a store forgets runs.
struct RunMetrics {
  private var text = ""

  init(_ totals: [RunTotals]) {
    write("coop_runs", "Runs in the store, by flow and state.", totals) { "\($0.count)" }
    write(
      "coop_oldest_seconds",
      "The time since the last change of the run that has not changed for longest.",
      totals.filter { !$0.state.hasEnded }
    ) { Self.seconds($0.age) }
    write(
      "coop_ended_seconds",
      "The times from start to end of the runs in the store that have ended, added up.",
      totals.filter(\.state.hasEnded)
    ) { Self.seconds($0.durations) }
  }

  var bytes: [UInt8] { Array(text.utf8) }

  private mutating func write(
    _ name: String, _ help: String, _ totals: [RunTotals], _ value: (RunTotals) -> String
  ) {
    text += "# HELP \(name) \(help)\n# TYPE \(name) gauge\n"
    for total in totals {
      text +=
        "\(name){flow=\"\(Self.escaped(total.flow))\",state=\"\(total.state)\"} \(value(total))\n"
    }
  }

  private static func seconds(_ milliseconds: Int64) -> String { "\(Double(milliseconds) / 1_000)" }

  /// The text of a label in the format of Prometheus.
  private static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": result += "\\\\"
      case "\"": result += "\\\""
      case "\n": result += "\\n"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
