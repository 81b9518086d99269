public import CommandLineOperations
import Foundation
import SystemSupport
import TestSupport

/// A file in place of a standard stream.
final class CapturedStream {
  private let folder: TemporaryFolder
  let descriptor: FileDescriptor

  init() throws {
    folder = try TemporaryFolder()
    descriptor = try .open(folder["stream"].path, .writeOnly, [.create, .append])
  }

  deinit { try? descriptor.close() }

  /// What was written so far.
  var text: String { get throws { try String(contentsOf: folder["stream"], encoding: .utf8) } }
}

extension CommandLineProgram {
  struct Printed: Equatable {
    var status: Int32
    var output = ""
    var error = ""
  }

  /// Runs the program with arguments.
  func run(_ arguments: RawPath...) async throws -> Printed {
    let output = try CapturedStream()
    let error = try CapturedStream()
    let status = await status(
      of: arguments[...], output: StandardOutput(output.descriptor),
      errorOutput: StandardError(error.descriptor))
    return try Printed(status: status, output: output.text, error: error.text)
  }
}

extension RawPath: ExpressibleByStringLiteral {
  public init(stringLiteral text: String) { self.init(text) }
}
