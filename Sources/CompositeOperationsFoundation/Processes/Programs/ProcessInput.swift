/// The standard input of a program.
public struct ProcessInput: Sendable {
  enum Kind {
    case nothing
    case bytes([UInt8])
    case file(String)
    case inherited
    case stream(@Sendable (ChildProcess) async throws -> Void)
    case pipe(PipeEnd)
  }

  let kind: Kind

  /// No input. It ends at once.
  public static let nothing = ProcessInput(kind: .nothing)

  /// The standard input of this process.
  ///
  /// If it is a terminal, the program stays in the process group of this process, because the
  /// system stops other programs that read from a terminal. Ctrl-C then reaches the program too,
  /// and cancelling the run signals only the program, and not the processes that it has started.
  public static let inherited = ProcessInput(kind: .inherited)

  /// Bytes.
  ///
  /// - Parameter bytes: The whole input.
  public static func bytes(_ bytes: [UInt8]) -> ProcessInput { ProcessInput(kind: .bytes(bytes)) }

  /// A text, encoded as UTF-8.
  ///
  /// - Parameter text: The whole input.
  public static func text(_ text: String) -> ProcessInput { .bytes(Array(text.utf8)) }

  /// The contents of a file, or of a named pipe that already has a writer.
  ///
  /// - Parameter path: The path of the file. A relative path starts at the working folder of this
  ///   process.
  public static func file(_ path: String) -> ProcessInput { ProcessInput(kind: .file(path)) }

  /// Chunks of bytes, as they arrive.
  ///
  /// ```swift
  /// import CompositeOperationsFoundation
  ///
  /// let (chunks, feed) = AsyncStream.makeStream(of: [UInt8].self)
  /// let sorted = ProcessOperation("sort").reading(.stream(chunks)).start()
  /// feed.yield(Array("b\n".utf8))
  /// feed.yield(Array("a\n".utf8))
  /// feed.finish()
  /// print(try await sorted.outcome.get().output.lines)
  /// ```
  ///
  /// The next chunk is requested when fewer than 64 KiB wait for the program (back pressure). The
  /// input ends when the sequence ends. If the sequence throws an error, the process group is ended
  /// as after a cancellation, and the run ends in that error. When the program has ended, or closed
  /// its input, no more chunks are requested: the task that iterates the sequence is cancelled, and
  /// the run ends when the sequence has returned. Each run and each attempt iterates the sequence
  /// from its beginning, if the sequence permits that.
  ///
  /// - Parameter chunks: The input in chunks of any size.
  public static func stream<Chunks: AsyncSequence & Sendable>(
    _ chunks: Chunks
  ) -> ProcessInput where Chunks.Element: Sequence<UInt8> {
    ProcessInput(
      kind: .stream { child in
        for try await chunk in chunks where await !child.write(chunk) { return }
      })
  }

  /// Bytes, as they arrive.
  ///
  /// It behaves as a stream of chunks does. Bytes that arrive while the program is busy are passed on
  /// together.
  ///
  /// - Parameter bytes: The input byte by byte.
  public static func stream<Bytes: AsyncSequence & Sendable>(
    _ bytes: Bytes
  ) -> ProcessInput where Bytes.Element == UInt8 {
    ProcessInput(
      kind: .stream { child in
        for try await byte in bytes where await !child.write(CollectionOfOne(byte)) { return }
      })
  }
}
