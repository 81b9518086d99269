internal import Foundation

/// The table of errors in the article about mirrors, whose rows tests compare with what a round does.
public enum MirrorErrorTable {
  /// The extent of an error of the remote database.
  public enum Effect: String, Sendable {
    case record = "this record"
    case round = "this round"
    case table = "this table"
    case session = "this session"

    /// Whether the round ends in an error that is not temporary.
    public var isPermanent: Bool { self == .table || self == .session }
  }

  /// The columns with errors.
  public enum Column: Int, Sendable {
    case sqlState = 1
    case ofRecord
    case ofRequest
  }

  /// Returns the errors of a column with their effects, in the order of the article.
  public static func errors(
    in column: Column
  ) throws -> [(error: String, effect: Effect)] {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent(
        "Documentation/CompositeOperations.docc/KeepingALocalCopyInStep.md")
    let text = try String(contentsOf: file, encoding: .utf8)
    return text.split(separator: "\n").flatMap { line -> [(error: String, effect: Effect)] in
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      guard cells.count > 3, let effect = Effect(rawValue: cells[0]) else { return [] }
      return cells[column.rawValue].matches(of: /`([^`]+)`/).map { (String($0.output.1), effect) }
    }
  }
}
