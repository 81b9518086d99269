import Testing

/// An undisturbed run of a flow, in a process of its own.
struct UndisturbedFlow {
  let outcome: String
  let effects: [EffectLine]
  let commits: Int
  let duration: Duration

  /// - Parameter work: The argument of the program; by default the flow with every kind of step.
  init(_ work: String = "flow") async throws {
    let folder = try CrashFolder()
    let clock = ContinuousClock()
    let began = clock.now
    let (status, output) = try await folder.run(work, launch: 0)
    duration = clock.now - began
    try #require(status == 0, "\(output)")
    let lines = output.split(separator: "\n").map(String.init)
    outcome = try #require(lines.first { $0.hasPrefix("outcome ") })
    commits = try #require(lines.last?.split(separator: " ").last.flatMap { Int($0) })
    effects = try folder.effects
  }
}
