internal import CProcesses
internal import CompositeOperations
internal import Dispatch
internal import SystemSupport

/// Descendants whose parent has ended, if this process has become their parent. It has to collect
/// their statuses, but not the statuses of the programs that it has started.
package enum AdoptedProcesses {
  fileprivate struct Programs {
    /// The programs whose statuses have not been collected.
    var started: Set<Int32> = []
    /// How many programs are being started: they may run, and are not in the set yet.
    var startingCount = 0
    /// Whether all programs have been killed, because this process ends.
    var areKilled = false
  }

  private static let programs = Lock(Programs())
  /// Signalled when no program is being started any more, after all have been killed.
  private static let lastStart = DispatchSemaphore(value: 0)

  /// The children that are not adopted: the programs that this process has started.
  package static var startedPrograms: Set<Int32> { programs.withLock(\.started) }

  /// Starts a program. None is started after ``killPrograms()``.
  ///
  /// - Parameter body: Returns the process identifier.
  static func starting(
    _ body: () -> Result<Int32, ProcessLaunchError.Failure>
  ) -> Result<Int32, ProcessLaunchError.Failure> {
    let isRefused = programs.withLock { programs in
      if !programs.areKilled { programs.startingCount += 1 }
      return programs.areKilled
    }
    if isRefused { return .failure(.init(code: ECANCELED)) }
    let result = body()
    programs.withLock { programs in
      programs.startingCount -= 1
      if case .success(let process) = result {
        programs.started.insert(process)
        if programs.areKilled { kill(process) }
      }
      if programs.areKilled, programs.startingCount == 0 { lastStart.signal() }
    }
    return result
  }

  /// Sends SIGKILL to all programs that this process has started, and to their groups. It must end
  /// after this call, because it can start no others.
  static func killPrograms() {
    // Under the lock, so that no program is reaped, whose identifier another process could get.
    let areSomeStarting = programs.withLock { programs in
      programs.areKilled = true
      for program in programs.started { kill(program) }
      return programs.startingCount > 0
    }
    // A start that a device blocks must not keep this process.
    if areSomeStarting { _ = lastStart.wait(timeout: .now() + .seconds(2)) }
  }

  private static func kill(_ program: Int32) {
    try? SystemProcess.send(SystemSignal.kill, toGroup: program)
    try? SystemProcess.send(SystemSignal.kill, to: program)
  }

  /// Collects the status of a program that has ended.
  static func reapProgram(_ process: Int32, _ end: inout process_end) -> Bool {
    programs.withLock { programs in
      programs.started.remove(process)
      return unsafe process_reap(process, &end) == 0
    }
  }

  /// Collects the statuses of adopted processes that have ended. A process in the session of this
  /// process may be a child of other code, which awaits its end.
  package static func reap() {
    programs.withLock { programs in
      while programs.startingCount == 0 {
        let process = process_ended_child()
        if process <= 0 { return }
        if programs.reap(process) { continue }
        // The system would name the same process again.
        for child in ProcessTable.all
        where child.isZombie && child.parent == SystemProcess.identifier {
          _ = programs.reap(child.process)
        }
        return
      }
    }
  }
}

extension AdoptedProcesses.Programs {
  /// Collects the status of an adopted process that has ended.
  fileprivate func reap(_ process: Int32) -> Bool {
    let session = SystemProcess.session(of: process)
    if session == nil || session == SystemProcess.session(of: 0) || started.contains(process) {
      return false
    }
    var end = process_end()
    return unsafe process_reap(process, &end) == 0
  }
}
