import Dispatch
import Synchronization

/// Runs a way once.
struct Sampler {
  /// Nothing but the way itself: for counting instructions.
  var isExact = false

  /// Waits on the main thread, so that the pool's threads are the way's.
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
