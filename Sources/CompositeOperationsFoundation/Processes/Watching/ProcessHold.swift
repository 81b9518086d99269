internal import CProcesses
internal import CompositeOperations

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// The right to send signals to a process, for as long as its identifier is its own.
///
/// The system keeps the identifier until somebody takes the status of the process that has ended. Both that and
/// every signal happen under the lock, and so no signal comes too late; they are calls of the system that return at
/// once.
final class ProcessHold: Sendable {
  private let leader = Lock<Int32?>(nil)

  /// Why there is no status.
  enum LostStatus: Error { case lost }

  func began(_ identifier: Int32) { leader.withLock { $0 = identifier } }

  func send(_ signal: ProcessSignal, to recipient: RunningProcess.Recipient) -> Bool {
    leader.withLock { leader in
      guard let leader else { return false }
      switch recipient {
      case .program: return kill(leader, signal.rawValue) == 0
      case .group:
        let isSent = kill(-leader, signal.rawValue) == 0
        // A program may have gone over to another group.
        return getpgid(leader) == leader ? isSent : kill(leader, signal.rawValue) == 0 || isSent
      }
    }
  }

  /// Ends the program and its group by force.
  ///
  /// - Returns: Whether the program ends; not if this process may not signal it.
  func endByForce() -> Bool {
    leader.withLock { leader in
      guard let leader else { return true }
      kill(-leader, SIGKILL)
      return kill(leader, SIGKILL) == 0 || errno != EPERM || process_has_ended(leader)
    }
  }

  /// Takes the status of the process, which has ended. From then on no signal is sent.
  func reap() -> Result<ProcessStatus, LostStatus> {
    leader.withLock { leader in
      guard let identifier = leader else { return .failure(.lost) }
      leader = nil
      var end = process_end()
      guard unsafe process_reap(identifier, &end) == 0 else { return .failure(.lost) }
      return .success(
        end.by_signal ? .signalled(ProcessSignal(rawValue: end.code)) : .exited(end.code))
    }
  }
}
