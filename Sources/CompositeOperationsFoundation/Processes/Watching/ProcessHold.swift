internal import CProcesses
internal import CompositeOperations

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// The right to send signals to a process, while its identifier is valid.
///
/// The system reserves the identifier until the status of the ended process is taken. That and
/// every signal happen under the lock, so no signal comes too late. They are system calls that
/// return at once.
final class ProcessHold: Sendable {
  private let leader = Lock<Int32?>(nil)

  /// The error if there is no status.
  enum LostStatus: Error { case lost }

  func began(_ identifier: Int32) { leader.withLock { $0 = identifier } }

  func send(_ signal: ProcessSignal, to recipient: RunningProcess.Recipient) -> Bool {
    leader.withLock { leader in
      guard let leader else { return false }
      switch recipient {
      case .program: return kill(leader, signal.rawValue) == 0
      case .group:
        let isSent = kill(-leader, signal.rawValue) == 0
        // The program may have moved to another group.
        return getpgid(leader) == leader ? isSent : kill(leader, signal.rawValue) == 0 || isSent
      }
    }
  }

  /// Sends SIGKILL to the program and its group.
  ///
  /// - Returns: Whether the program ends; false if this process may not signal it.
  func endByForce() -> Bool {
    leader.withLock { leader in
      guard let leader else { return true }
      kill(-leader, SIGKILL)
      return kill(leader, SIGKILL) == 0 || errno != EPERM || process_has_ended(leader)
    }
  }

  /// Takes the status of the process, which must have ended. No signal is sent after this call.
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
