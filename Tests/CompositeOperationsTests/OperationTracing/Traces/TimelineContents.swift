import CompositeOperations
import Foundation
import OperationTracing
import Testing

/// The data of a timeline page, extracted as a browser does.
struct TimelineContents: Decodable {
  let title: String
  let ids: [Int]
  let parents: [Int]
  let rows: [Int]
  let lanes: [Int]
  let created: [Int64]
  let ended: [Int64]
  let ends: String
  let runNames: [Int]
  let names: [String]
  let texts: [String]
  let reasons: [Int]
  let waits: [Int64]
  let attributes: [Int]
  let notes: [Int64]
  let attempts: [Int]
  let path: [Int64]
  let concurrency: [Double]

  /// Returns the text between two tags, which must occur exactly once.
  static func part(of page: String, from start: String, to end: String) throws -> String {
    let parts = page.components(separatedBy: start)
    try #require(parts.count == 2, "\(start) occurs \(parts.count - 1) times")
    return try #require(parts[1].components(separatedBy: end).first)
  }

  init(of trace: OperationTrace, title: String = "Timeline") throws {
    let json = try Self.part(
      of: trace.html(title: title), from: #"<script type="application/json" id="trace">"#,
      to: "</script>")
    self = try JSONDecoder().decode(Self.self, from: Data(json.utf8))
  }

  /// The runs that overlap in one row.
  var overlaps: [String] {
    var found: [String] = []
    let byRow = Dictionary(grouping: rows.indices, by: { rows[$0] })
    for (row, runs) in byRow {
      let sorted = runs.sorted { (created[$0], ended[$0], $0) < (created[$1], ended[$1], $1) }
      for (one, other) in zip(sorted, sorted.dropFirst()) where ended[one] > created[other] {
        found.append("\(names[runNames[one]]) and \(names[runNames[other]]) in row \(row)")
      }
    }
    return found
  }
}
