import Testing

/// Valid responses that end too early, or arrive in parts.
@Suite struct HostileCutTests {
  @Test(.timeLimit(.minutes(10)))
  func `N5: a response that is cut at any position is an error that can be retried`() async throws {
    let cuts = ValidAnswer.all.flatMap(\.cuts)
    #expect(cuts.count > 1_000)
    try await HostileServer(cuts).checkEnds()
  }

  @Test(.timeLimit(.minutes(10)))
  func `N5: a response that is split at any position is complete`() async throws {
    try await HostileServer(ValidAnswer.all.flatMap(\.splits)).checkEnds()
  }

  @Test(.timeLimit(.minutes(10)))
  func `a connection that is reset within a response is an error that can be retried`()
    async throws
  {
    // The reset may discard what was sent before it, so only these bodies have one possible end.
    let names = ["Content-Length", "chunked", "gzip", "informational responses"]
    let cuts = ValidAnswer.all.filter { names.contains($0.name) }.flatMap(\.cuts)
    let answers = cuts.filter { $0.end == .lost }.map { $0.then(.reset).only(.data) }
    try await HostileServer(answers).checkEnds()
  }
}
