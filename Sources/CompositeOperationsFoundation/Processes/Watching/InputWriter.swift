internal import CProcesses
internal import SystemSupport

/// Writes the standard input of a process, as fast as the process reads it.
final class InputWriter {
  private var rest: ArraySlice<UInt8>
  /// Where the next bytes come from; nil if `rest` has all.
  private let buffer: InputBuffer?
  private var owned: OwnedFileDescriptor?
  private var isWatched = false

  /// - Parameter buffer: Where the bytes of a stream come from.
  init(
    _ input: ProcessInput, _ buffer: InputBuffer?, into descriptor: consuming OwnedFileDescriptor?
  ) {
    if case .bytes(let bytes) = input.kind { rest = bytes[...] } else { rest = [] }
    self.buffer = buffer
    owned = descriptor
  }

  /// Writes as much as possible now, and the rest when there is room. The input ends if it has no
  /// reader any more, which is no error.
  func write(on watch: Int32, as token: UInt64) {
    guard let descriptor = owned?.descriptor else { return }
    if rest.isEmpty, let buffer {
      switch buffer.take() {
      case .bytes(let bytes): rest = bytes[...]
      case .nothing: return unwatch(on: watch)
      case .end: return close(on: watch)
      }
    }
    // The watching thread blocks SIGPIPE.
    let count = unsafe try? rest.withUnsafeBytes { bytes in
      try unsafe descriptor.writeAvailable(bytes, brokenPipe: .signal)
    }
    guard let count else { return close(on: watch) }
    rest = rest.dropFirst(count)
    if rest.isEmpty, buffer == nil { return close(on: watch) }
    if !isWatched {
      isWatched =
        process_watch_add(watch, descriptor.rawValue, process_interest_writable, token) == 0
    }
  }

  func close(on watch: Int32) {
    unwatch(on: watch)
    // First, because other processes may notice the end of the input.
    buffer?.close()
    owned = nil
    rest = []
  }

  private func unwatch(on watch: Int32) {
    if let number = owned?.descriptor.rawValue, isWatched {
      process_watch_remove(watch, number, process_interest_writable)
    }
    isWatched = false
  }
}
