import CompositeOperations
import Foundation
import HTTPOperations
import LoopbackServer
import TestSupport
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Responses of hostile and defective servers. Each ends in the whole body or in a clear error.
@Suite(.timeLimit(.minutes(10))) struct HostileAnswerTests {
  @Test(.timeLimit(.minutes(10)), arguments: Group.allCases)
  func `N5: every hostile response has the expected end`(group: Group) async throws {
    try await HostileServer(group.answers).checkEnds(isolates: true)
  }

  enum Group: CaseIterable, Sendable {
    case statusLines, headers, informational, withoutBodies, lengths, transferCodings
    case chunkedBodies, codings, bombs, redirects

    var answers: [HostileAnswer] {
      switch self {
      case .statusLines: HostileAnswer.statusLines
      case .headers: HostileAnswer.headers
      case .informational: HostileAnswer.informational
      case .withoutBodies: HostileAnswer.withoutBodies
      case .lengths: HostileAnswer.lengths
      case .transferCodings: HostileAnswer.transferCodings
      case .chunkedBodies: HostileAnswer.chunkedBodies
      case .codings: HostileAnswer.codings
      case .bombs: HostileAnswer.bombs
      case .redirects: HostileAnswer.redirects
      }
    }
  }

  @Test func `there are at least 300 hostile responses beside those that are cut`() {
    let names = Group.allCases.flatMap { group in group.answers.map { "\(group) \($0.name)" } }
    #expect(names.count >= 300)
    #expect(Set(names).count == names.count)
  }
}
