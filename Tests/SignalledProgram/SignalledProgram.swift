import CompositeOperations
import CompositeOperationsFoundation
import Foundation

/// Runs the script in its argument with the shell, until it ends or a signal cancels it. Exits with
/// the status of the signal, or with 0. With a second argument, it also starts other programs all the
/// time, which end only because it kills them.
@main struct SignalledProgram {
  static func main() async throws {
    atexit { FileHandle.standardError.write(Data("exit handler\n".utf8)) }
    if CommandLine.arguments.count > 2 {
      let other = ProcessOperation("sleep", "600").onLaunch { $0.send(.kill) }
      for _ in 0..<4 {
        Task.detached { while true { _ = await other.run() } }
      }
    }
    let script = ProcessOperation("/bin/sh", "-c", CommandLine.arguments[1])
      .sendingOutput(to: .inherited).ending(within: .seconds(3_600))
    let run = try await script.run(cancelledBy: .endingSignals)
    exit(run.interruptedStatus ?? 0)
  }
}
