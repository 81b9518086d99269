/// The progress of a run.
///
/// ```swift
/// let progress = OperationProgress(fraction: 0.42, completed: 420, total: 1_000, unit: "files")
/// print(progress)  // 42 %, 420 of 1000 files
/// ```
public struct OperationProgress: Sendable, Equatable {
  /// The completed fraction, from 0 (nothing is done) to 1 (the run ended in a result); nil while
  /// it is unknown.
  ///
  /// It never decreases for a run. A run that fails or is cancelled keeps its last fraction.
  public let fraction: Double?
  /// The number of completed units.
  ///
  /// If the body reported none, this is the sum of the counts that its children reported, in the
  /// unit of the first child that reported any.
  public let completed: Int
  /// The total number of units; nil if it is unknown.
  public let total: Int?
  /// The name of the unit, such as `files`; nil if none was reported.
  public let unit: String?

  /// Creates a progress value.
  ///
  /// - Parameters:
  ///   - fraction: The completed fraction, from 0 to 1; nil if it is unknown.
  ///   - completed: The number of completed units.
  ///   - total: The total number of units; nil if it is unknown.
  ///   - unit: The name of the unit; nil for none.
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
  /// The fraction in percent, rounded down; nil while it is unknown.
  public var percent: Int? {
    guard let fraction, fraction.isFinite else { return nil }
    // As a `Double`, 0.57 is a little less than 57 percent, and would be rounded down to 56.
    return Int(min(max(0, fraction), 1) * 100 + 1e-9)
  }
}

extension OperationProgress: CustomStringConvertible {
  /// The known parts of `42 %, 420 of 1000 files`; `under way` if nothing is known.
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
