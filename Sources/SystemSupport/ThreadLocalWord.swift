#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// A thread-local word of memory; nil at first.
// Safe by itself: only reading through a stored address is unsafe.
@safe package struct ThreadLocalWord: Sendable {
  private let key: pthread_key_t

  package init() {
    var key = pthread_key_t()
    let error = unsafe pthread_key_create(&key, nil)
    precondition(error == 0, "no thread-local storage is left (error \(error))")
    self.key = key
  }

  /// The word of the calling thread.
  package var value: UnsafeMutableRawPointer? {
    get { unsafe pthread_getspecific(key) }
    nonmutating set { unsafe pthread_setspecific(key, newValue) }
  }
}
