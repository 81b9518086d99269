package import CompositeOperationsFoundation
import Foundation
import SystemSupport

/// A command with everything that its process needs, on this or on another machine.
package struct FlowLaunch: Codable, Hashable, Sendable {
  package let program: String
  let arguments: [String]
  /// The absolute path of the working folder.
  package let directory: String
  /// The variables to set in the inherited environment.
  var variables: [String: String]
  /// The absolute path of the file for the standard input; nil for an empty one.
  package let standardInput: String?
  /// How many bytes of the standard output are returned, apart from those of standard error; nil if
  /// both are one output.
  package let outputLimit: Int?
  /// Identifies what the step uses: its inputs, and what the steps that it needs have made. A
  /// command of an earlier process is continued only with the same.
  let basis: String

  var words: [String] { [program] + arguments }

  /// The operation that runs the program. The caller sets where the output goes.
  package var process: ProcessOperation {
    let process = ProcessOperation(program, arguments: arguments, in: directory)
      .settingVariables(variables.mapValues { $0 })
    return standardInput.map { process.reading(.file($0)) } ?? process
  }
}

/// How a command ended, and the part of its output that is returned.
package struct FlowCommandResult: Codable, Hashable, Sendable {
  /// The exit status, or the number of a signal.
  let code: Int32
  let isSignal: Bool
  /// The standard output; with standard error if both are one output.
  let output: Data
  let droppedOutput: Int
  /// Standard error, if it is not a part of `output`.
  let errorOutput: Data
  let droppedErrorOutput: Int
  /// The name of the machine.
  let host: String
  /// Whether a process that it has left in the background held its output open, so that some may be
  /// missing; nil in a value of an earlier version.
  let isOutputHeldOpen: Bool?
  /// Whether it ended because its flow asked for that.
  package let isStopped: Bool

  package init(_ result: ProcessResult, on host: String = "", isStopped: Bool = false) {
    switch result.status {
    case .exited(let code): (self.code, isSignal) = (code, false)
    case .signalled(let signal): (code, isSignal) = (signal.rawValue, true)
    }
    output = Data(result.output.bytes)
    droppedOutput = result.output.droppedByteCount
    errorOutput = Data(result.errorOutput.bytes)
    droppedErrorOutput = result.errorOutput.droppedByteCount
    // A flow that stops a command expects no further output.
    isOutputHeldOpen = !result.output.isComplete && !isStopped
    self.host = host
    self.isStopped = isStopped
  }

  /// A command that was stopped before its process began.
  package init(stoppedOn host: String) {
    (code, isSignal) = (ProcessSignal.terminate.rawValue, true)
    (output, droppedOutput, errorOutput, droppedErrorOutput) = (Data(), 0, Data(), 0)
    isOutputHeldOpen = false
    self.host = host
    isStopped = true
  }

  package var status: ProcessStatus {
    isSignal ? .signalled(ProcessSignal(rawValue: code)) : .exited(code)
  }

  /// The lines of the output, without their endings and without empty ones.
  ///
  /// - Throws: A ``FlowFailure`` that names a line that is not UTF-8.
  var lines: [String] {
    get throws {
      try output.split(separator: UInt8(ascii: "\n")).compactMap { line in
        let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
        if line.isEmpty { return nil }
        if let text = String(validating: line, as: UTF8.self) { return text }
        let text = ShellText.escaped(line.prefix(200), utf8: nil)
        throw FlowFailure.lines("it wrote a line that is not UTF-8: \(text)")
      }
    }
  }
}
