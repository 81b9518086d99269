internal import SystemSupport

extension TraceFile {
  /// The file, its encoder, and the first error.
  struct Output: Sendable {
    private let file: FileDescriptor
    private var encoder: any TraceEncoder
    private var isClosed = false
    private(set) var error: SystemError?

    init(_ file: FileDescriptor, encoder: any TraceEncoder) {
      self.file = file
      self.encoder = encoder
    }

    mutating func write(_ steps: [TraceAssembler.Step], now: Duration) {
      if steps.isEmpty { return }
      write(encoder.block(of: steps, now: now))
    }

    mutating func writeEnding() { write(encoder.ending()) }

    mutating func close() {
      if isClosed { return }
      isClosed = true
      do { try file.close() } catch { self.error = self.error ?? error }
    }

    private mutating func write(_ bytes: [UInt8]) {
      if error != nil { return }
      do { try file.write(bytes, brokenPipe: .signal) } catch { self.error = error }
    }
  }
}
