import Dispatch
import Synchronization

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
      let result = Mutex<Result<Sample, any Error>?>(nil)
      let isDone = DispatchSemaphore(value: 0)
      let wakesCores = !isExact
      Task.detached {
        if wakesCores { await Cores.wake() }
        let sample: Result<Sample, any Error>
        do { sample = .success(try await body()) } catch { sample = .failure(error) }
        result.withLock { $0 = sample }
        isDone.signal()
      }
      isDone.wait()
      guard let sample = result.withLock(\.self) else { throw BenchmarkError("no sample") }
      return try sample.get()
    }
  }
}
