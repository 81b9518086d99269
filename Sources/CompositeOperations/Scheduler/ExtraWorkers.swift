internal import Synchronization
internal import ThreadSupport

/// The number of extra workers of lists in the process, in addition to the callers' own workers. It
/// is less than the number of processors, so that nested composites do not oversubscribe them.
///
/// The count is a hint. No outcome and no order of results depends on it: a run that gets no extra
/// worker has a ``StandbyWorker``.
enum ExtraWorkers {
  /// The duration in nanoseconds above which operations justify waking another processor.
  static let worthwhile: Int64 = 5_000

  /// The duration in nanoseconds above which many operations justify that: those that have taken
  /// the time ``long`` together. Shorter ones take most of their time to be distributed.
  private static let worthwhileForMany: Int64 = 500
  private static let long: Int64 = 500_000

  /// - Parameters:
  ///   - nanoseconds: The duration of each child.
  ///   - slice: The time slice in which the children have run.
  ///   - now: The time of the last measurement.
  static func areWorthwhile(
    forChildrenOf nanoseconds: Int64, in slice: TimeSlice, at now: Int64
  ) -> Bool {
    nanoseconds > worthwhile || nanoseconds > worthwhileForMany && slice.hasLasted(long, at: now)
  }

  private static let places = Places(Processors.count - 1)

  /// Acquires an extra worker, unless all are in use. ``release()`` returns it.
  static func acquire() -> Bool { places.take() != nil }

  static func release() { places.leave() }
}

/// A hint from the recent durations of operations of one type, which decides whether a short list
/// of them gets an extra worker at once.
///
/// Types may share an entry, because a wrong hint costs only about a millisecond.
@safe struct WorkHint: Sendable {
  private static let size = 256
  private static let most = 64

  // Raw memory, which is never freed. Each entry is atomic.
  private nonisolated(unsafe) static let entries: UnsafeMutablePointer<Atomic<Int>> = {
    let entries = UnsafeMutablePointer<Atomic<Int>>.allocate(capacity: size)
    for index in 0..<size { unsafe (entries + index).initialize(to: Atomic(0)) }
    return unsafe entries
  }()

  private nonisolated(unsafe) let entry: UnsafeMutablePointer<Atomic<Int>>

  init(for type: Any.Type) {
    let address = UInt(bitPattern: ObjectIdentifier(type))
    unsafe entry = unsafe Self.entries + Int((address >> 4 ^ address >> 12) % UInt(Self.size))
  }

  /// Whether recent operations of the type justified an extra worker.
  var isHeavy: Bool { unsafe entry.pointee.load(ordering: .relaxed) > 0 }

  /// Records how many nanoseconds an operation took.
  func note(_ nanoseconds: Int64) {
    let now = unsafe entry.pointee.load(ordering: .relaxed)
    if nanoseconds > ExtraWorkers.worthwhile {
      // Limited, because a light operation also takes long when its thread is interrupted.
      if now < Self.most { unsafe entry.pointee.wrappingAdd(4, ordering: .relaxed) }
    } else if now > 0 {
      unsafe entry.pointee.wrappingSubtract(1, ordering: .relaxed)
    }
  }
}
