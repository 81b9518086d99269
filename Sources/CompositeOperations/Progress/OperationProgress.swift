/// How far a run is.
public struct OperationProgress: Sendable, Equatable {
  /// From 0, nothing done, to 1, when it has ended in a result; nil as long as nobody knows how much there is to
  /// do. Where it failed or was cancelled it stays where it was.
  ///
  /// For one run it never goes back.
  public let fraction: Double?
  /// How many units are done: what the body told or, if that told nothing, the sum of what its children told
  /// in one unit.
  public let completed: Int
  /// How many units there are to do; nil if nobody knows.
  public let total: Int?
  /// What is counted; nil if nobody said.
  public let unit: String?

  /// - Parameters:
  ///   - fraction: From 0 to 1; nil if nobody knows.
  ///   - completed: How many units are done.
  ///   - total: How many there are to do; nil if nobody knows.
  ///   - unit: What is counted.
  public init(
    fraction: Double? = nil, completed: Int = 0, total: Int? = nil, unit: String? = nil
  ) {
    self.fraction = fraction
    self.completed = completed
    self.total = total
    self.unit = unit
  }
}

extension OperationProgress {
  /// The fraction in percent, rounded down; nil as long as nobody knows how much there is to do.
  public var percent: Int? {
    guard let fraction, fraction.isFinite else { return nil }
    // So that 57 of 100, which is a little less than 0.57, is 57.
    return Int(min(max(0, fraction), 1) * 100 + 1e-9)
  }
}

extension OperationProgress: CustomStringConvertible {
  /// `42 %, 420 of 1000 files`, or as much of it as is known.
  public var description: String {
    var parts: [String] = []
    if let percent { parts.append("\(percent) %") }
    if completed > 0 || total != nil {
      parts.append(
        "\(completed)" + (total.map { " of \($0)" } ?? "") + (unit.map { " \($0)" } ?? ""))
    }
    return parts.isEmpty ? "under way" : parts.joined(separator: ", ")
  }
}
