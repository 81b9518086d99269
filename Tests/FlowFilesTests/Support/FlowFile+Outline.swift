import FlowFiles

extension FlowFile {
  init(yaml text: String) throws(FlowFileError) {
    try self.init(parsing: Array(text.utf8), path: "flow.yaml")
  }

  /// All parts of the file with their locations, in a line each.
  var outline: String {
    var lines = ["flow \(name)"]
    if let width { lines.append("width \(width)") }
    lines += values.map {
      "value \($0.name) = \($0.text?.source ?? "nothing") @\($0.location.short)"
    }
    lines += dotenv.map { "dotenv \($0.outline)" }
    lines += environment.map { "env \($0.outline)" }
    if output != .quiet { lines.append("output \(output)") }
    lines += locks.sorted { $0.key < $1.key }.map { "lock \($0.key) \($0.value)" }
    for step in steps {
      lines.append("step \(step.name) @\(step.location.short)")
      lines += step.outline.map { "  " + $0 }
    }
    return lines.joined(separator: "\n")
  }
}

extension FlowStep {
  fileprivate var outline: [String] {
    var lines = commands.map { "run \($0.outline)" }
    if let each { lines.append("each \(each.outline)") }
    if let width { lines.append("width \(width)") }
    lines += needs.map { "needs \($0.outline)" }
    lines += after.map { "after \($0.outline)" }
    if let onlyIf { lines.append("only-if \(onlyIf.outline)") }
    lines += inputs.map { "input \($0.outline)" }
    lines += outputs.map { "output \($0.outline)" }
    if retries > 0 { lines.append("retries \(retries)") }
    if let backoff { lines.append("backoff \(backoff)") }
    if let timeout { lines.append("timeout \(timeout)") }
    if shell.map(\.source) != ["/bin/sh", "-eu", "-c"] {
      lines.append("shell \(shell.map(\.outline).joined(separator: " "))")
    }
    if let directory { lines.append("in \(directory.outline)") }
    lines += environment.map { "env \($0.outline)" }
    lines += locks.map { "lock \($0.name) \($0.permits) @\($0.location.short)" }
    if accept != [0] { lines.append("accept \(accept.sorted())") }
    if let standardInput { lines.append("stdin \(standardInput.outline)") }
    return lines
  }
}

extension FlowCommand {
  fileprivate var outline: String {
    switch self {
    case .shell(let text): "shell \(text)"
    case .program(let words): words.map(\.outline).joined(separator: " ")
    }
  }
}

extension FlowEach {
  fileprivate var outline: String {
    switch self {
    case .list(let values): "[\(values.map(\.outline).joined(separator: " "))]"
    case .glob(let pattern): "glob \(pattern.outline)"
    case .linesOf(let reference): "lines-of \(reference.outline)"
    case .matrix(let columns):
      "matrix "
        + columns.map { "\($0.name)=[\($0.values.map(\.outline).joined(separator: " "))]" }
        .joined(separator: " ")
    case .rowsOf(let reference): "rows-of \(reference.outline)"
    case .rowsOfFile(let file): "rows-of file \(file.outline)"
    case .sameAs(let reference): "same-as \(reference.outline)"
    }
  }
}

extension FlowReference {
  fileprivate var outline: String { "\(name) @\(location.short)" }
}

extension FlowVariable {
  fileprivate var outline: String { "\(name) = \(text.outline) @\(location.short)" }
}

extension FlowTemplate {
  /// Values in angle brackets, so that they differ from texts.
  fileprivate var outline: String {
    let text = parts.map { part in
      switch part {
      case .text(let text): text
      case .value(let name): "<\(name)>"
      case .each: "<each>"
      case .column(let name): "<each.\(name)>"
      }
    }.joined()
    return "\(text)@\(location.short)"
  }
}

extension FlowLocation {
  var short: String { "\(line):\(column)" }
}

/// The problems of a file, as `line:column: message`.
func problems(
  of text: String, _ format: FlowFileFormat = .yaml
) -> [String] {
  problems(of: Array(text.utf8), format)
}

func problems(of bytes: [UInt8], _ format: FlowFileFormat = .yaml) -> [String] {
  do throws(FlowFileError) {
    _ = try FlowFile(parsing: bytes, path: "flow.yaml", format: format)
    return []
  } catch {
    return error.problems.map(\.outline)
  }
}

extension FlowProblem {
  var outline: String { (location.map { "\($0.short): " } ?? "") + message }
}
