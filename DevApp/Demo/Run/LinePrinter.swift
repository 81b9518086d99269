import CompositeOperationsFoundation

/// Prints lines of several commands, one at a time.
actor LinePrinter {
  func write(_ line: String) throws { try StandardOutput().write(Array("\(line)\n".utf8)) }

  func writeError(_ line: String) { StandardError().writeLine(line) }

  /// All that a command wrote, below its name.
  func write(group output: ProcessOutput, of name: String) throws {
    var bytes = Array("[\(name)]\n".utf8) + output.bytes
    if bytes.last != UInt8(ascii: "\n") { bytes.append(UInt8(ascii: "\n")) }
    if output.droppedByteCount > 0 {
      bytes += Array("[\(name)] \(output.droppedByteCount.asBytes) more\n".utf8)
    }
    try StandardOutput().write(bytes)
  }
}
