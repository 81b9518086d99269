/// What is to become of one of a program's outputs.
struct OutputChoice: Sendable {
  typealias Handler = nonisolated(nonsending) @Sendable (String) async throws -> Void

  private(set) var destination: ProcessOutput.Destination
  /// Who gets its lines.
  private(set) var handler: Handler?

  init(destination: ProcessOutput.Destination) { self.destination = destination }

  mutating func send(to destination: ProcessOutput.Destination) {
    self.destination = destination
    if !isKept { handler = nil }
  }

  mutating func hand(to handler: @escaping Handler) {
    if !isKept { destination = .kept(first: 0) }
    self.handler = handler
  }

  private var isKept: Bool {
    if case .kept = destination.kind { true } else { false }
  }
}
