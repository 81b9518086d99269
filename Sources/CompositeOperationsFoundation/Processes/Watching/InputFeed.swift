internal import CProcesses

/// Writes what a process reads, as fast as it does.
final class InputFeed {
  private var rest: ArraySlice<UInt8>
  private var descriptor: Descriptor?
  private var isWatched = false

  init(_ input: ProcessInput, into descriptor: consuming Descriptor?) {
    rest = input.bytes[...]
    self.descriptor = descriptor
  }

  /// Writes what goes at once, and the rest when there is room for it. The input ends where nobody reads it any
  /// more, which is no error.
  func feed(on watch: Int32, as token: UInt64) {
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

extension ProcessInput {
  /// What is written into a pipe; empty where there is none.
  var bytes: [UInt8] {
    switch self {
    case .nothing, .file: []
    case .bytes(let bytes): bytes
    case .text(let text): Array(text.utf8)
    }
  }
}
