/// A writer for the text format of Prometheus, version 0.0.4.
struct PrometheusText: Sendable {
  enum Kind: String, Sendable { case counter, gauge, histogram }

  /// Labels in the order in which they are written.
  typealias Labels = KeyValuePairs<String, String>

  private(set) var text = ""

  /// Writes a family of integer metrics, each with its labels.
  mutating func family(
    _ name: String, _ kind: Kind, _ help: String, _ samples: [(labels: Labels, value: Int)]
  ) {
    head(name, kind, help)
    for sample in samples { line(name, Array(sample.labels), "\(sample.value)") }
  }

  mutating func histograms(
    _ name: String, _ help: String, _ samples: [(labels: Labels, histogram: DurationHistogram)]
  ) {
    head(name, .histogram, help)
    for (labels, histogram) in samples {
      var count = 0
      for (bound, countBelow) in zip(
        histogram.bounds.map { "\($0)" } + ["+Inf"], histogram.counts)
      {
        // Buckets are cumulative: each one includes the lower ones.
        count += countBelow
        line("\(name)_bucket", labels + [("le", bound)], "\(count)")
      }
      line("\(name)_sum", Array(labels), "\(histogram.sum / .seconds(1))")
      line("\(name)_count", Array(labels), "\(count)")
    }
  }

  private mutating func head(_ name: String, _ kind: Kind, _ help: String) {
    text += "# HELP composite_operations_\(name) \(help)\n"
    text += "# TYPE composite_operations_\(name) \(kind.rawValue)\n"
  }

  private mutating func line(
    _ name: String, _ labels: [(key: String, value: String)], _ value: String
  ) {
    let labels = labels.map { "\($0.key)=\"\($0.value.escapedForPrometheus)\"" }
    text += "composite_operations_\(name){\(labels.joined(separator: ","))} \(value)\n"
  }
}

extension String {
  /// The text, escaped for the value of a label.
  fileprivate var escapedForPrometheus: String {
    // By scalars, because a carriage return and a line feed are one character.
    var escaped = String.UnicodeScalarView()
    for scalar in unicodeScalars {
      switch scalar {
      case "\\": escaped.append(contentsOf: "\\\\".unicodeScalars)
      case "\"": escaped.append(contentsOf: "\\\"".unicodeScalars)
      case "\n": escaped.append(contentsOf: "\\n".unicodeScalars)
      default: escaped.append(scalar)
      }
    }
    return String(escaped)
  }
}
