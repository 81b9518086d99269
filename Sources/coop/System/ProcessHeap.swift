import HeapUse

/// The heap of this process.
enum ProcessHeap {
  /// Lets the threads that begin later use one heap, so that each reuses what others have freed. By
  /// default, glibc gives several threads heaps of their own.
  ///
  /// It is for programs that allocate much in phases, each on another thread. Threads that allocate
  /// all the time would wait for each other. It has no effect with other C libraries.
  static func share() {
    #if canImport(Glibc)
      _ = mallopt(M_ARENA_MAX, 1)
    #endif
  }
}
