package import Dispatch

/// A subscription to signals that this process receives. Each subscriber of a signal is notified.
///
/// The signals arrive through a pipe, which a dispatch source reads. (A signal source of Dispatch
/// loses signals on Linux: it requires that they are ignored, and the kernel drops an ignored
/// signal that no thread blocks.)
package final class ReceivedSignals: Sendable {
  /// The queue on which subscribers are notified, one at a time.
  package static let queue = DispatchQueue(label: "signals")
  private static let receiver = SignalReceiver()

  private let number: Int

  /// - Parameters:
  ///   - signals: The signals. Those that the parent process has set to be ignored stay ignored.
  ///   - body: Receives a signal, on the queue.
  /// - Throws: An error of the system if no pipe can be created.
  package init(
    _ signals: [Int32], _ body: @escaping @Sendable (Int32) -> Void
  ) throws(SystemError) {
    let result = Self.queue.sync { Self.receiver.add(Set(signals), body) }
    number = try result.get()
  }

  /// Ends the subscription. A signal that has no other subscriber has its default action again, so
  /// that it ends the program, also if it has arrived and no subscriber was notified of it. It must not
  /// be called on the queue.
  package func end() { Self.queue.sync { Self.receiver.remove(number) } }
}

/// The pipe of the signals, and its subscribers. Used only on the queue.
private final class SignalReceiver: @unchecked Sendable {
  private struct Subscriber {
    let number: Int
    let signals: Set<Int32>
    let body: @Sendable (Int32) -> Void
  }

  /// They stay open: a signal handler that another thread runs may write to the pipe later.
  private var pipe:
    (reader: FileDescriptor, writer: FileDescriptor, source: any DispatchSourceRead)?
  private var subscribers: [Subscriber] = []
  private var last = 0

  func add(
    _ signals: Set<Int32>, _ body: @escaping @Sendable (Int32) -> Void
  ) -> Result<Int, SystemError> {
    do throws(SystemError) {
      let writer = if let pipe { pipe.writer } else { try makePipe() }
      let caught = handled.intersection(signals)
      let new = SystemSignal.forward(Array(signals.subtracting(caught)), to: writer)
      last += 1
      subscribers.append(Subscriber(number: last, signals: caught.union(new), body: body))
      return .success(last)
    } catch { return .failure(error) }
  }

  func remove(_ number: Int) {
    guard let index = subscribers.firstIndex(where: { $0.number == number }) else { return }
    let removed = subscribers.remove(at: index)
    for signal in removed.signals.subtracting(handled) { SystemSignal.restoreDefault(signal) }
    // Those that have arrived before.
    notify()
  }

  /// Notifies the subscribers of the signals in the pipe.
  private func notify() {
    var received: [UInt8] = [0]
    while let pipe, (try? pipe.reader.readAvailable(into: &received)) == 1 {
      let signal = Int32(received[0])
      let receivers = subscribers.filter { $0.signals.contains(signal) }
      for subscriber in receivers { subscriber.body(signal) }
      // It has arrived before the end of its last subscription. To the process, because the thread may
      // block it.
      if receivers.isEmpty { try? SystemProcess.send(signal, to: SystemProcess.identifier) }
    }
  }

  /// The signals with a subscriber.
  private var handled: Set<Int32> { subscribers.reduce(into: []) { $0.formUnion($1.signals) } }

  private func makePipe() throws(SystemError) -> FileDescriptor {
    let (reader, writer) = try FileDescriptor.pipe()
    // Only this end: a signal handler that finds no room waits for it.
    _ = fcntl(reader.rawValue, F_SETFL, O_NONBLOCK)
    let source = DispatchSource.makeReadSource(
      fileDescriptor: reader.rawValue, queue: ReceivedSignals.queue)
    source.setEventHandler { [self] in notify() }
    source.activate()
    pipe = (reader, writer, source)
    return writer
  }
}
