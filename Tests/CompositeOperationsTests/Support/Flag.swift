import Synchronization
import SystemSupport

final class Flag: Sendable {
  private let flag = Atomic(false)
  var isSet: Bool { flag.load(ordering: .acquiring) }
  func set() { flag.store(true, ordering: .releasing) }
}

let processorCount = Processors.count
