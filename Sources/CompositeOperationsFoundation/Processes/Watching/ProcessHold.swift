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
      return kill(recipient == .group ? -leader : leader, signal.rawValue) == 0
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

  /// Whether anything of the group goes on after its leader has ended.
  var groupLives: Bool {
    leader.withLock { $0.map { process_group_lives($0) } ?? false }
  }
}
