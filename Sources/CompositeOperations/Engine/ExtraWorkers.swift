internal import Synchronization

/// The extra workers of the whole process: workers beside the callers, at most one less than there are processors, so
/// that composites inside composites do not flood the machine.
///
/// The count is a hint. No outcome and no order of results depends on it: a run that gets no extra
/// worker has a ``StandbyWorker``.
enum ExtraWorkers {
  /// The duration in nanoseconds above which operations justify waking another processor.
  static let worthwhile: Int64 = 5_000

  private static let count = Atomic(0)

  /// Acquires an extra worker, unless all are in use. ``release()`` returns it.
  static func acquire() -> Bool {
    var now = count.load(ordering: .relaxed)
    while now < Processors.count - 1 {
      let (isDone, seen) = count.weakCompareExchange(
        expected: now, desired: now + 1, ordering: .relaxed)
      if isDone { return true }
      now = seen
    }
    return false
  }

  static func release() { count.wrappingSubtract(1, ordering: .relaxed) }
}

/// The recent durations of operations of one type: a hint whether a short list of them gets an
/// extra worker at once.
///
/// Types may share an entry, because a wrong hint only costs about a millisecond.
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

  /// Of operations that never get an extra worker.
  static var unknown: WorkHint { WorkHint(for: Never.self) }

  init(for type: Any.Type) {
    let address = UInt(bitPattern: ObjectIdentifier(type))
    unsafe entry = unsafe Self.entries + Int((address >> 4 ^ address >> 12) % UInt(Self.size))
  }

  /// Whether recent operations of the type justified an extra worker.
  var isHeavy: Bool { unsafe entry.pointee.load(ordering: .relaxed) > 0 }

  /// Notes how many nanoseconds an operation took.
  func note(_ nanoseconds: Int64) {
    let now = unsafe entry.pointee.load(ordering: .relaxed)
    if nanoseconds > ExtraWorkers.worthwhile {
      // Few, because a light operation takes long, too, when its thread is interrupted.
      if now < Self.most { unsafe entry.pointee.wrappingAdd(4, ordering: .relaxed) }
    } else if now > 0 {
      unsafe entry.pointee.wrappingSubtract(1, ordering: .relaxed)
    }
  }
}
