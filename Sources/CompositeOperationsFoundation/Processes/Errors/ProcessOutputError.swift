public import Foundation
internal import SystemSupport

/// The error of a program whose output is not whole.
///
/// The bytes that were read are in ``result``. To accept a part as a result, choose it with
/// ``ProcessOperation/sendingOutput(to:)`` or ``ProcessOperation/sendingErrorOutput(to:)``, and
/// with ``ProcessOperation/draining(for:)`` if other processes hold the output open.
public struct ProcessOutputError: Error, CustomStringConvertible {
  /// A reason why output is missing.
  public enum Reason: Sendable, Hashable {
    /// Standard output, or both outputs if they are merged, exceeded a limit in bytes. The program
    /// was ended for that.
    case outputLimit(Int)
    /// Standard error exceeded a limit in bytes. The program was ended for that.
    case errorOutputLimit(Int)
    /// The program has ended, and after this time, other processes that it started still held its
    /// output open. They may write more.
    case heldOpen(Duration)

    /// Whether the program was ended for this reason.
    var endsProgram: Bool {
      switch self {
      case .outputLimit, .errorOutputLimit: true
      case .heldOpen: false
      }
    }
  }

  /// The program, as it was passed to the operation.
  public let program: String
  /// The arguments of the program, with U+FFFD for bytes that are not UTF-8.
  public let arguments: [String]
  private let command: String
  /// The working folder of the program; nil for the one of this process.
  public let folder: String?
  /// How the program ended, and the output that was kept.
  public let result: ProcessResult
  /// Why output is missing.
  public let reason: Reason
  private let isMerged: Bool

  init(_ configuration: ProcessConfiguration, _ result: ProcessResult, _ reason: Reason) {
    program = configuration.program
    arguments = configuration.argumentTexts
    command = configuration.command
    folder = configuration.folder
    self.result = result
    self.reason = reason
    isMerged = configuration.isMerged
  }

  /// The command, the reason, and what to do.
  public var description: String {
    let place = folder.map { " in " + CommandText.quoted($0) } ?? ""
    return "\(command)\(place) \(cause)"
  }

  private var cause: String {
    switch reason {
    case .outputLimit(let limit):
      excess(over: limit, of: isMerged ? "its outputs" : "standard output", "sendingOutput")
    case .errorOutputLimit(let limit):
      excess(over: limit, of: "standard error", "sendingErrorOutput")
    case .heldOpen(let time):
      "has ended with \(result.status), but after \(time.readableTime), a process that it started "
        + "still holds its output open, so output may be missing. Send the output of background "
        + "processes to a file, let the program wait for them, or accept that with draining(for:)."
    }
  }

  private func excess(over limit: Int, of output: String, _ modifier: String) -> String {
    "wrote more than \(limit) bytes, the limit, to \(output), and ended with \(result.status). "
      + "Raise the limit with \(modifier)(to: .whole(limit:)), keep a part with .kept(first:) or "
      + ".kept(last:), or send it to a file."
  }
}

extension ProcessOutputError: LocalizedError {
  public var errorDescription: String? { "\(self)" }
}
