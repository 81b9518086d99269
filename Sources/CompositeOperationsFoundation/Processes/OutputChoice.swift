/// The destination of one of a program's outputs, and the handler of its lines.
struct OutputChoice: Sendable {
  typealias Handler = nonisolated(nonsending) @Sendable (String) async throws -> Void

  /// The defaults.
  static let standardOutput = OutputChoice(destination: .kept(first: 16 << 20))
  static let standardError = OutputChoice(destination: .kept(last: 64 << 10))

  private(set) var destination: ProcessOutput.Destination
  /// The handler of its lines.
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

  /// Whether this process reads the output.
  var isKept: Bool {
    if case .kept = destination.kind { true } else { false }
  }
}
