/// What has happened to a process since its run last looked.
struct ChildNews: Sendable {
  /// It has been started.
  var launched: RunningProcess?
  /// What it wrote, for those who take lines.
  var output: [UInt8] = []
  var errorOutput: [UInt8] = []
  /// It is over, and nothing comes any more.
  var end: Result<ChildEnd, any Error>?

  var isEmpty: Bool { launched == nil && output.isEmpty && errorOutput.isEmpty && end == nil }

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

/// How a process ended, and what it wrote.
struct ChildEnd: Sendable {
  let result: ProcessResult
  /// The last of what it wrote to standard error.
  let lastErrorOutput: [UInt8]
}
