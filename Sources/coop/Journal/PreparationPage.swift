import DurableOperations
import SystemSupport

/// The preparation of a database for durable runs, as text.
struct PreparationPage {
  private let preparation: StorePreparation
  private let place: String

  /// - Parameter place: The address without its password.
  init(_ preparation: StorePreparation, of place: String) {
    self.preparation = preparation
    self.place = place
  }

  /// The parts that are there or missing, and the commands that create them.
  var text: String {
    var lines = [place.onOneLine]
    let width = preparation.parts.map(\.name.count).max() ?? 0
    for part in preparation.parts {
      let space = String(repeating: " ", count: width - part.name.count)
      lines.append("  \(part.name)\(space)  \(part.finding.onOneLine)")
    }
    for (title, isReady) in [("To do:", false), ("Done:", true)] {
      let commands = preparation.parts.filter { $0.isReady == isReady }.map(\.command)
      if commands.isEmpty { continue }
      lines += ["", title]
      lines += commands.map { "  " + $0.map(\.quotedForShell).joined(separator: " ") }
    }
    if !preparation.isComplete {
      lines += [
        "", "`python3 -m pip install absurdctl` installs the program, which also needs psql.",
      ]
      if preparation.omitsPassword {
        lines.append("The address is shown without its password; set PGPASSWORD, or use ~/.pgpass.")
      }
    }
    return lines.map { $0 + "\n" }.joined()
  }
}
