/// A sampler that runs a way once.
struct Sampler {
  /// Whether to run nothing but the way, for counting instructions.
  var isExact = false

  /// Runs a way. The main thread waits for it, so that the way has all threads of the pool.
  func sample(_ way: Way) throws -> Sample {
    switch way.body {
    case .blocking(let body):
      if !isExact { Cores.wakeQueues() }
      return try body()
    case .asynchronous(let body):
      let wakesCores = !isExact
      return try BlockingWait.value {
        if wakesCores { await Cores.wake() }
        return try await body()
      }
    }
  }
}
