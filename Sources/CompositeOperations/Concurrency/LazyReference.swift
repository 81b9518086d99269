internal import Synchronization

/// A reference that is set at most once, by whichever thread comes first.
///
/// It does the same as `AtomicLazyReference`, in code of this module. The functions of the library
/// are not inlined, so the thread sanitizer does not see the memory ordering that they establish.
@safe struct LazyReference<Instance: AnyObject & Sendable>: ~Copyable, Sendable {
  private let storage = unsafe Atomic<Unmanaged<Instance>?>(nil)

  deinit { unsafe storage.load(ordering: .acquiring)?.release() }

  /// Returns the reference, or nil if it has not been set.
  borrowing func load() -> Instance? {
    unsafe storage.load(ordering: .acquiring)?.takeUnretainedValue()
  }

  /// Sets the reference if it has not been set.
  ///
  /// - Returns: The reference that is set now, which another thread may have set.
  borrowing func storeIfNil(_ new: Instance) -> Instance {
    let retained = unsafe Unmanaged.passRetained(new)
    let (exchanged, current) = unsafe storage.compareExchange(
      expected: nil, desired: retained, successOrdering: .acquiringAndReleasing,
      failureOrdering: .acquiring)
    if !exchanged, let current = unsafe current {
      unsafe retained.release()
      return unsafe current.takeUnretainedValue()
    }
    return new
  }
}
