internal import CProcesses
internal import CompositeOperations
internal import SystemSupport

/// An end of a pipe between two programs. It is closed when its program has been started or cannot
/// be started, or when it is released.
final class PipeEnd: Sendable {
  /// The descriptor; -1 when it is closed.
  private let descriptor: Lock<Int32>

  private init(_ descriptor: Int32) { self.descriptor = Lock(descriptor) }

  deinit { close() }

  /// The descriptor for the program.
  ///
  /// - Precondition: The end is open.
  var number: Int32 {
    let number = descriptor.withLock(\.self)
    precondition(number >= 0, "an end of a pipe was passed to two programs")
    return number
  }

  func close() {
    let number = descriptor.withLock { descriptor in exchange(&descriptor, with: -1) }
    if number >= 0 { try? FileDescriptor(rawValue: number).close() }
  }

  /// Makes a pipe between two programs, which both expect blocking descriptors.
  static func pair() throws(SystemError) -> (reader: PipeEnd, writer: PipeEnd) {
    var ends: [Int32] = [-1, -1]
    let error = unsafe process_pipe(&ends, process_own_none)
    if error != 0 { throw SystemError(code: error) }
    return (PipeEnd(ends[0]), PipeEnd(ends[1]))
  }
}

extension ProcessConfiguration {
  /// Closes this process's copies of the pipes of the program, which has been started or will not
  /// be.
  func closePipeEnds() {
    if case .pipe(let end) = input.kind { end.close() }
    if case .pipe(let end) = output.destination.kind { end.close() }
  }
}
