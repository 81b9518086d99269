internal import TestSupport

/// An undisturbed run of a flow, in a process of its own.
package struct UndisturbedFlow {
  package let outcome: String
  package let effects: [EffectLine]
  package let commits: Int
  package let duration: Duration

  /// - Parameter work: The argument of the program; by default the flow with every kind of step.
  package init(_ work: String = "flow") async throws {
    let folder = try CrashFolder()
    let clock = ContinuousClock()
    let began = clock.now
    let (status, output) = try await folder.run(work, launch: 0)
    duration = clock.now - began
    guard status == 0 else { throw TestProgram.Failure("status \(status): \(output)") }
    let lines = output.split(separator: "\n").map(String.init)
    guard let outcome = lines.first(where: { $0.hasPrefix("outcome ") }),
      let commits = lines.last?.split(separator: " ").last.flatMap({ Int($0) })
    else { throw TestProgram.Failure("no outcome, or no number of commits: \(output)") }
    (self.outcome, self.commits) = (outcome, commits)
    effects = try folder.effects
  }
}
