import CompositeOperations
import CompositeOperationsFoundation
import Foundation

/// Runs the script in its argument with the shell, until it ends or a signal cancels it. Exits with
/// the status of the signal, or with 0.
@main struct SignalledProgram {
  static func main() async throws {
    let script = ProcessOperation("/bin/sh", "-c", CommandLine.arguments[1])
      .sendingOutput(to: .inherited).ending(within: .seconds(3_600))
    let run = try await script.run(cancelledBy: .endingSignals)
    exit(run.interruptedStatus ?? 0)
  }
}
