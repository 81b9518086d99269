import CompositeOperations
import Foundation

struct Repository: Sendable, Equatable { let name: String }
struct Issue: Sendable, Equatable { let title: String }
struct Profile: Sendable, Equatable { let name: String }
struct Page: Sendable, Equatable { let url: URL }

/// The service that the operations fetch from.
struct Service: Sendable {
  func repositories(of user: String) async throws -> [Repository] {
    ["\(user)/a", "\(user)/b"].map(Repository.init)
  }
}

let service = Service()

struct FetchIssues: ComposableOperation {
  let repository: Repository
  func perform(in context: OperationContext) async throws -> [Issue] {
    [Issue(title: "\(repository.name)#1"), Issue(title: "\(repository.name)#2")]
  }
}

struct FetchProfile: ComposableOperation {
  let user: String
  init(_ user: String) { self.user = user }
  func perform(in context: OperationContext) async throws -> Profile { Profile(name: user) }
}

struct FetchPage: ComposableOperation {
  let url: URL
  func perform(in context: OperationContext) async throws -> Page {
    if url.path.hasSuffix("missing") { throw URLError(.fileDoesNotExist) }
    return Page(url: url)
  }
}

enum OldAPIError: Error { case unknown }

/// An interface with completion handlers.
struct OldAPI: Sendable {
  /// The data or the error of a fetch; nil if a fetch ends only when it is cancelled.
  let answer: (data: Data?, error: OldAPIError?)?

  final class Call: Sendable {
    private let completion: @Sendable (Data?, (any Error)?) -> Void
    init(completion: @escaping @Sendable (Data?, (any Error)?) -> Void) {
      self.completion = completion
    }
    func cancel() { completion(nil, nil) }
  }

  func fetch(completion: @escaping @Sendable (Data?, (any Error)?) -> Void) -> Call {
    if let answer {
      DispatchQueue.global().async { completion(answer.data, answer.error) }
    }
    return Call(completion: completion)
  }
}
