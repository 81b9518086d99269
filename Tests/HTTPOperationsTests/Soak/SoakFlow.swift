import CompositeOperations
import CompositeOperationsFoundation
import Foundation
import HTTPOperations
import LoopbackServer
import TestSupport

/// A random flow with an expected result.
indirect enum SoakFlow: Sendable {
  case step(Step, Int)
  case parallel([SoakFlow], width: Int)
  case sequence([SoakFlow])

  enum Step: CaseIterable, Sendable {
    case blocking, cancellableBlocking, queue, legacy
    case output, input, grandchild, data, slowData, download, file
    case failingBlocking, failingProgram, missingProgram, missingPage, cutOffPage, missingFile
  }

  static func random(depth: Int, using random: inout OperationRandomness) -> SoakFlow {
    let children = Int.random(in: 1...4, using: &random)
    switch depth == 0 ? 2 : Int.random(in: 0..<4, using: &random) {
    case 0:
      return .parallel(
        (0..<children).map { _ in .random(depth: depth - 1, using: &random) },
        width: .random(in: 1...4, using: &random))
    case 1:
      return .sequence((0..<children).map { _ in .random(depth: depth - 1, using: &random) })
    default:
      let step = Step.allCases.randomElement(using: &random) ?? .blocking
      return .step(step, .random(in: 1...1_000, using: &random))
    }
  }

  /// The expected result; nil if the flow fails.
  var sum: Int? {
    switch self {
    case .step(let step, let number): step.fails ? nil : number
    case .parallel(let flows, _), .sequence(let flows):
      flows.reduce(0) { sum, flow in sum.flatMap { sum in flow.sum.map { sum + $0 } } }
    }
  }

  func operation(in fixture: SoakFixture) -> any ComposableOperation<Int> {
    switch self {
    case .step(let step, let number): step.operation(of: number, in: fixture)
    case .parallel(let flows, let width):
      ParallelOperation(flows.map { $0.operation(in: fixture) }, width: .limited(to: width))
        .map { $0.reduce(0, +) }
    case .sequence(let flows):
      SimpleOperation.withContext { context in
        var sum = 0
        for flow in flows { sum += try await context.run(flow.operation(in: fixture)) }
        return sum
      }
    }
  }
}

extension SoakFlow.Step {
  fileprivate struct Failure: Error {}

  fileprivate var fails: Bool {
    switch self {
    case .failingBlocking, .failingProgram, .missingProgram, .missingPage, .cutOffPage,
      .missingFile:
      true
    default: false
    }
  }

  fileprivate func operation(
    of number: Int, in fixture: SoakFixture
  ) -> any ComposableOperation<Int> {
    switch self {
    case .blocking:
      BlockingOperation {
        usleep(UInt32(number))
        return number
      }
    case .cancellableBlocking:
      BlockingOperation { context in
        for _ in 0..<10 {
          try context.checkCancellation()
          usleep(UInt32(number))
        }
        return number
      }
    case .queue:
      FoundationOperation(
        in: fixture.queue, { QueueOperation(SimpleOperation { number }) },
        result: { try $0.outcome?.get() ?? 0 })
    case .legacy: FoundationOperation { BlockOperation { usleep(UInt32(number)) } }.map { number }
    case .output: Self.reading(shell("echo \(number)"))
    case .input: Self.reading(ProcessOperation("cat").reading(.text("\(number)")))
    case .grandchild: Self.reading(shell("sleep 0.0\(number) & wait; echo \(number)"))
    case .data: Self.reading(HTTPDataOperation(fixture.server.url("/\(number)")))
    case .slowData: Self.reading(HTTPDataOperation(fixture.server.url("/slow/\(number)")))
    case .download: fixture.downloading(number)
    case .file: fixture.writing(number)
    case .failingBlocking: BlockingOperation<Int> { throw Failure() }
    case .failingProgram: Self.reading(shell("echo \(number); exit 3"))
    case .missingProgram: Self.reading(ProcessOperation("no-such-program"))
    case .missingPage: Self.reading(HTTPDataOperation(fixture.server.url("/missing")))
    case .cutOffPage: Self.reading(HTTPDataOperation(fixture.server.url("/cut")))
    case .missingFile: FileReadOperation(fixture.folder["missing"]).map(\.count)
    }
  }

  private func shell(_ script: String) -> ProcessOperation {
    ProcessOperation("/bin/sh", arguments: ["-c", script])
  }

  private static func reading(_ process: ProcessOperation) -> any ComposableOperation<Int> {
    process.map { try number($0.output.text) }
  }

  private static func reading(_ request: HTTPDataOperation) -> any ComposableOperation<Int> {
    request.map { try number(String(decoding: $0.body, as: UTF8.self)) }
  }

  fileprivate static func number(_ text: String) throws -> Int {
    guard let number = Int(text.trimmingCharacters(in: .whitespacesAndNewlines)) else {
      throw Failure()
    }
    return number
  }
}

/// The folder, the queue and the server that flows share.
final class SoakFixture: Sendable {
  let folder: TemporaryFolder
  let queue = OperationQueue()
  let server: LoopbackServer
  private let fileCount = Lock(0)

  init() throws {
    folder = try TemporaryFolder()
    server = try LoopbackServer { request, connection in
      let name = request.path.split(separator: "/").last ?? ""
      switch request.path {
      case "/missing": connection.send(LoopbackResponse(404, "no such page"))
      case "/cut": connection.send(LoopbackResponse("12", length: 10))
      case let path where path.hasPrefix("/slow"):
        connection.send(
          "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: \(name.count)\r\n\r\n")
        for byte in name.utf8 {
          usleep(1_000)
          connection.send([byte])
        }
      default: connection.send(LoopbackResponse(String(name)))
      }
    }
  }

  /// The URL of a file that no other flow uses.
  private func newFile() -> URL {
    let number = fileCount.withLock { count in
      count += 1
      return count
    }
    return folder["file \(number)"]
  }

  fileprivate func downloading(_ number: Int) -> any ComposableOperation<Int> {
    let file = newFile()
    return SimpleOperation.withContext { [server] context in
      _ = try await context.run(HTTPDownloadOperation(server.url("/\(number)"), to: file))
      return try await Self.readingAndRemoving(file, in: context)
    }
  }

  fileprivate func writing(_ number: Int) -> any ComposableOperation<Int> {
    let (first, second, third) = (newFile(), newFile(), newFile())
    let text = Data("\(number)".utf8) + Data(repeating: 10, count: number * 5_000)
    return SimpleOperation.withContext { context in
      try await context.run(FileWriteOperation(text, to: first))
      try await context.run(FileCopyOperation(from: first, to: second))
      try await context.run(FileMoveOperation(from: second, to: third))
      try await context.run(FileRemovalOperation(first))
      return try await Self.readingAndRemoving(third, in: context)
    }
  }

  private static func readingAndRemoving(
    _ file: URL, in context: OperationContext
  ) async throws -> Int {
    let data = try await context.run(FileReadOperation(file))
    try await context.run(FileRemovalOperation(file))
    return try SoakFlow.Step.number(String(decoding: data, as: UTF8.self))
  }
}
