internal import CProcesses

/// Writes the standard input of a process, as fast as the process reads it.
final class InputWriter {
  private var rest: ArraySlice<UInt8>
  private var descriptor: Descriptor?
  private var isWatched = false

  init(_ input: ProcessInput, into descriptor: consuming Descriptor?) {
    rest = input.bytes[...]
    self.descriptor = descriptor
  }

  /// Writes as much as possible now, and the rest when there is room. The input ends if it has no
  /// reader any more, which is no error.
  func write(on watch: Int32, as token: UInt64) {
    guard let number = descriptor?.number else { return }
    guard let count = descriptor?.write(rest), count < rest.count else { return close(on: watch) }
    rest = rest.dropFirst(count)
    if !isWatched {
      isWatched = process_watch_add(watch, number, process_interest_writable, token) == 0
    }
  }

  func close(on watch: Int32) {
    if let number = descriptor?.number, isWatched {
      process_watch_remove(watch, number, process_interest_writable)
    }
    descriptor = nil
    rest = []
  }
}
