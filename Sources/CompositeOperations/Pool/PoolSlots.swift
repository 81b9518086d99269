/// Elements that stay where they are until they are removed.
struct PoolSlots<Element: Sendable>: Sendable {
  private var slots: [Element?] = []
  private var free: [Int] = []

  var count: Int { slots.count - free.count }
  var isEmpty: Bool { count == 0 }

  var elements: [Element] { slots.compactMap(\.self) }

  /// - Returns: Where it stands.
  mutating func add(_ element: Element) -> Int {
    guard let index = free.popLast() else {
      slots.append(element)
      return slots.endIndex - 1
    }
    slots[index] = element
    return index
  }

  mutating func remove(_ index: Int) {
    slots[index] = nil
    free.append(index)
    // What a crowd took is not kept when it is gone.
    if isEmpty, slots.count > 1_024 { self = PoolSlots() }
  }
}
