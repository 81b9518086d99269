internal import SystemSupport

extension OperationTrace {
  /// Writes the trace to a file, in the format that the ending of its name implies.
  ///
  /// | ending | format |
  /// |---|---|
  /// | `.html` | ``html(title:)`` |
  /// | `.svg` | ``svg`` |
  /// | `.json` | ``chromeJSON`` |
  /// | `.otlp`, `.otlp.json`, `.otlp.jsonl` | ``openTelemetryJSON`` |
  /// | `.mmd`, `.mermaid` | ``diagram`` for Mermaid |
  /// | `.dot`, `.gv` | ``diagram`` for Graphviz |
  /// | any other | ``text``, followed by the ``summary`` |
  ///
  /// - Parameter path: The path of the file. An existing file is overwritten.
  /// - Throws: A ``TraceFileError`` if the file cannot be written.
  public func write(to path: String) throws {
    do throws(SystemError) {
      let bytes = Array(written(forFile: path.lowercased()).utf8)
      let file = try FileDescriptor.open(
        path, .writeOnly, [.create, .truncate], permissions: 0o644)
      do throws(SystemError) {
        try file.write(bytes, brokenPipe: .signal)
      } catch {
        try? file.close()
        throw error
      }
      try file.close()
    } catch {
      throw TraceFileError(path: path, system: error)
    }
  }

  private func written(forFile path: String) -> String {
    switch TraceFormat(ofFile: path) {
    case .chrome: return chromeJSON
    case .openTelemetry: return openTelemetryJSON
    case nil: break
    }
    func ends(_ endings: String...) -> Bool { endings.contains(where: path.hasSuffix) }
    if ends(".html") { return html }
    if ends(".svg") { return svg }
    if ends(".mmd", ".mermaid") { return diagram.mermaid }
    if ends(".dot", ".gv") { return diagram.graphviz }
    return "\(text)\n\(summary)\n"
  }
}
