import Dispatch
import Foundation
import Synchronization

/// Pipes that are written to when all their readers wait. Each carries its own index. An instance
/// can serve several runs, one after another.
final class Pipes: Sendable {
  private struct Ends {
    let reader: Int32
    let writer: Int32
  }

  private let ends: [Ends]
  private let waiting = Atomic(0)

  /// - Precondition: The process may open two descriptors per pipe.
  init(count: Int) {
    OpenFiles.raiseLimit()
    ends = (0..<count).map { _ in
      var descriptors: [Int32] = [0, 0]
      precondition(pipe(&descriptors) == 0, "no pipe: \(String(cString: strerror(errno)))")
      return Ends(reader: descriptors[0], writer: descriptors[1])
    }
  }

  deinit {
    for ends in ends {
      close(ends.reader)
      close(ends.writer)
    }
  }

  /// Calls a closure once when a pipe has something to read.
  func whenReadable(at index: Int, _ callback: @escaping @Sendable () -> Void) {
    let source = DispatchSource.makeReadSource(
      fileDescriptor: ends[index].reader, queue: .global())
    source.setEventHandler {
      source.cancel()
      callback()
    }
    source.activate()
    if waiting.wrappingAdd(1, ordering: .acquiringAndReleasing).newValue == ends.count {
      waiting.store(0, ordering: .releasing)
      DispatchQueue.global().async { self.writeAll() }
    }
  }

  func read(at index: Int) -> UInt64 {
    var value: UInt64 = 0
    let length = Foundation.read(ends[index].reader, &value, MemoryLayout<UInt64>.size)
    precondition(length == MemoryLayout<UInt64>.size, "a pipe must give 8 bytes (was \(length))")
    return value
  }

  private func writeAll() {
    for (index, ends) in ends.enumerated() {
      var value = UInt64(index)
      let length = write(ends.writer, &value, MemoryLayout<UInt64>.size)
      precondition(length == MemoryLayout<UInt64>.size, "a pipe must take 8 bytes (was \(length))")
    }
  }
}
