import CompositeOperations
import Synchronization

/// An operation that fetches a page from a built-in site, without a network.
struct FetchPage: ComposableOperation {
  let name: String

  var operationName: String { "FetchPage(\(name))" }

  func perform(in context: OperationContext) async throws -> String {
    switch name {
    case "index": return "see: about imprint"
    case "slow":
      try await context.clock.sleep(for: .seconds(60))
      return "at last"
    case "missing": throw NotFound(page: name)
    default: return "page \(name)"
    }
  }
}

struct NotFound: Error, CustomStringConvertible {
  let page: String
  var description: String { "no page \(page)" }
}

struct NoNetwork: Error, CustomStringConvertible {
  var description: String { "no network" }
}

extension String {
  /// The pages that a page links to.
  var links: [String] { split(separator: " ").dropFirst().map(String.init) }
}

/// Lines that can be added from any thread.
final class Log: Sendable {
  private let added = Mutex<[String]>([])
  var lines: [String] { added.withLock { $0 } }
  func add(_ line: String) { added.withLock { $0.append(line) } }
}
