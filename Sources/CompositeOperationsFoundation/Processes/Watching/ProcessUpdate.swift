/// The events of a process since the last call of its run.
struct ProcessUpdate: Sendable {
  /// The process has been started.
  var launched: RunningProcess?
  /// The output for the line handlers.
  var output: [UInt8] = []
  var errorOutput: [UInt8] = []
  /// The process is over, and no event follows.
  var completion: Result<ProcessCompletion, any Error>?

  var isEmpty: Bool {
    launched == nil && output.isEmpty && errorOutput.isEmpty && completion == nil
  }

  subscript(stream: OutputStream) -> [UInt8] {
    get {
      switch stream {
      case .output: output
      case .errorOutput: errorOutput
      }
    }
    set {
      switch stream {
      case .output: output = newValue
      case .errorOutput: errorOutput = newValue
      }
    }
    _modify {
      switch stream {
      case .output: yield &output
      case .errorOutput: yield &errorOutput
      }
    }
  }
}

enum OutputStream: Sendable, CaseIterable { case output, errorOutput }

/// The result of a process.
struct ProcessCompletion: Sendable {
  let result: ProcessResult
  /// The end of standard error.
  let lastErrorOutput: [UInt8]
  /// Why the output is not whole although it has to be; nil if it is.
  let outputProblem: ProcessOutputError.Reason?
}
