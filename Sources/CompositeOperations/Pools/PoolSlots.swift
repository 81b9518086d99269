/// Elements that keep their index until they are removed.
struct PoolSlots<Element: Sendable>: Sendable {
  private var slots: [Element?] = []
  private var free: [Int] = []

  var count: Int { slots.count - free.count }
  var isEmpty: Bool { count == 0 }

  var elements: [Element] { slots.compactMap(\.self) }

  /// - Returns: The index of the element.
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
    // Frees the memory of a peak.
    if isEmpty, slots.count > 1_024 { self = PoolSlots() }
  }
}
