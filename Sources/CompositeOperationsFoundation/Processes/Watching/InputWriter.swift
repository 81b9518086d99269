internal import CProcesses
internal import SystemSupport

/// Writes the standard input of a process, as fast as the process reads it.
final class InputWriter {
  private var rest: ArraySlice<UInt8>
  private var owned: OwnedFileDescriptor?
  private var isWatched = false

  init(_ input: ProcessInput, into descriptor: consuming OwnedFileDescriptor?) {
    rest = input.bytes[...]
    owned = descriptor
  }

  /// Writes as much as possible now, and the rest when there is room. The input ends if it has no
  /// reader any more, which is no error.
  func write(on watch: Int32, as token: UInt64) {
    guard let descriptor = owned?.descriptor else { return }
    // The watching thread blocks SIGPIPE.
    let count = unsafe try? rest.withUnsafeBytes { bytes in
      try unsafe descriptor.writeAvailable(bytes, brokenPipe: .signal)
    }
    guard let count, count < rest.count else { return close(on: watch) }
    rest = rest.dropFirst(count)
    if !isWatched {
      isWatched =
        process_watch_add(watch, descriptor.rawValue, process_interest_writable, token) == 0
    }
  }

  func close(on watch: Int32) {
    if let number = owned?.descriptor.rawValue, isWatched {
      process_watch_remove(watch, number, process_interest_writable)
    }
    owned = nil
    rest = []
  }
}
