import CompositeOperations
import CompositeOperationsFoundation
import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct FilePipeTests {
  private let folder: TemporaryFolder
  private let pipe: URL

  init() throws {
    folder = try TemporaryFolder()
    pipe = folder["pipe"]
    #expect(unsafe mkfifo(pipe.path, 0o600) == 0)
  }

  /// Starts an operation and waits until it runs on its thread.
  private func begin<Success>(
    _ threads: BlockingThreads, _ operation: some ComposableOperation<Success>
  ) async -> OperationRun<Success> {
    let run = operation.start()
    while threads.runningCount == 0 { await Task.yield() }
    return run
  }

  @Test func `a pipe is read until its writer closes it`() async throws {
    let path = pipe.path
    let threads = BlockingThreads(width: 1, name: "pipe")
    // The reader starts long before the writer.
    let run = await begin(threads, FileReadOperation(pipe, on: .threads(threads)))
    let data = bytes(300_000)
    let isWritten = await onNewThread {
      let descriptor = unsafe open(path, O_WRONLY)
      defer { close(descriptor) }
      var rest = data
      while !rest.isEmpty {
        let count = unsafe rest.withUnsafeBytes {
          unsafe write(descriptor, $0.baseAddress, $0.count)
        }
        if count <= 0 { return false }
        rest = Data(rest.dropFirst(count))
      }
      return true
    }
    #expect(isWritten)
    #expect(await run.outcome.result == data)
  }

  @Test func `reading a pipe without a writer ends when it is cancelled`() async {
    let threads = BlockingThreads(width: 1, name: "pipe")
    let run = await begin(threads, FileReadOperation(pipe, on: .threads(threads)))
    run.cancel()
    #expect(await run.outcome.isCancelled)
  }

  @Test func `writing to a pipe without a reader is an error`() async {
    let error = fileError(await FileWriteOperation(bytes(1), to: pipe).run())
    #expect(error?.reason == .system(code: ENXIO))
    #expect(error?.description.contains("Open it for reading first.") == true)
  }

  @Test func `a pipe that is larger than its buffer is written as its reader reads`() async throws {
    let path = pipe.path
    let reader = unsafe open(path, O_RDONLY | O_NONBLOCK)
    #expect(reader >= 0 && fcntl(reader, F_SETFL, 0) == 0)
    let data = bytes(300_000)
    let run = FileWriteOperation(data, to: pipe).start()
    let read = await onNewThread {
      var read = Data()
      var block = [UInt8](repeating: 0, count: 65_536)
      while read.count < data.count {
        let count = unsafe Foundation.read(reader, &block, 65_536)
        if count > 0 { read.append(contentsOf: block[..<count]) }
        if count < 0 { return read }
      }
      return read
    }
    #expect(await run.outcome.result != nil)
    #expect(read == data)
    close(reader)
  }

  @Test func `writing to a pipe whose reader does not read ends when it is cancelled`() async {
    let reader = unsafe open(pipe.path, O_RDONLY | O_NONBLOCK)
    defer { close(reader) }
    let threads = BlockingThreads(width: 1, name: "pipe")
    let run = await begin(
      threads, FileWriteOperation(bytes(1 << 20), to: pipe, on: .threads(threads)))
    run.cancel()
    #expect(await run.outcome.isCancelled)
  }

  @Test func `a reader that closes the pipe is an error and does not end the process`() async {
    let reader = unsafe open(pipe.path, O_RDONLY | O_NONBLOCK)
    let write = FileWriteOperation(bytes(3 << 20), to: pipe).start()
    // Waits until the write has begun.
    var block = [UInt8](repeating: 0, count: 1)
    while unsafe read(reader, &block, 1) != 1 { await Task.yield() }
    close(reader)
    #expect(fileError(await write.outcome)?.reason == .system(code: EPIPE))
  }
}
