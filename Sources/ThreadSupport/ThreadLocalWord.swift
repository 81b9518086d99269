/// A thread-local word of memory; nil at first.
// `@inlinable`, because a call into another module would take longer than the access. Public, because
// the compiler does not inline members of `package` types into other modules.
// Safe by itself: only reading through a stored address is unsafe.
@safe public struct ThreadLocalWord: Sendable {
  /// A function for the end of a thread, which receives its word.
  package typealias Destructor = @convention(c) (UnsafeMutableRawPointer?) -> Void

  @usableFromInline let key: pthread_key_t

  package init() { key = unsafe Self.newKey(nil) }

  /// - Parameter destructor: Called at the end of every thread whose word is not nil.
  package init(destructor: Destructor) { key = unsafe Self.newKey(destructor) }

  private static func newKey(_ destructor: Destructor?) -> pthread_key_t {
    #if canImport(Darwin)
      typealias SystemDestructor = @convention(c) (UnsafeMutableRawPointer) -> Void
      let destructor = unsafe unsafeBitCast(destructor, to: SystemDestructor?.self)
    #endif
    var key = pthread_key_t()
    let error = unsafe pthread_key_create(&key, destructor)
    precondition(error == 0, "no thread-local storage is left (error \(error))")
    return key
  }

  /// The word of the calling thread.
  @inlinable package var value: UnsafeMutableRawPointer? {
    get { unsafe pthread_getspecific(key) }
    nonmutating set {
      let error = unsafe pthread_setspecific(key, newValue)
      precondition(error == 0, "no memory for thread-local storage is left")
    }
  }
}
