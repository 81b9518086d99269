import CommandLineOperations
import CompositeOperationsFoundation

/// A printer of lines from several commands, one at a time.
actor LinePrinter {
  func write(_ line: String) throws { try StandardOutput().write(Array("\(line)\n".utf8)) }

  func writeError(_ line: String) { StandardError().writeLine(line) }

  /// Reports output that was cut off because another process holds it open.
  func writeCuts(of result: ProcessResult, of name: String) {
    if result.output.isComplete, result.errorOutput.isComplete { return }
    writeError("[\(name)] output cut off: a process that the command left running holds it open")
  }

  /// Prints the output of a command below its name.
  func write(group output: ProcessOutput, of name: String) throws {
    var bytes = Array("[\(name)]\n".utf8) + output.bytes
    if bytes.last != UInt8(ascii: "\n") { bytes.append(UInt8(ascii: "\n")) }
    if output.droppedByteCount > 0 {
      bytes += Array("[\(name)] \(output.droppedByteCount.asBytes) more\n".utf8)
    }
    try StandardOutput().write(bytes)
  }
}
