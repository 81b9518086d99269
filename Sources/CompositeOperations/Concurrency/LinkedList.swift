/// A doubly linked list. Removing an element takes constant time, wherever it is.
///
/// The links are indices of an array, so that elements need no allocations of their own.
struct LinkedList<Element: Sendable>: Sendable {
  /// The position of an element, until the element is removed.
  struct Place: Sendable {
    fileprivate let slot: Int
  }

  private struct Slot: Sendable {
    var element: Element?
    var previous: Int
    /// The slot of the next element, or of a free slot the next free slot.
    var next: Int
  }

  private static var none: Int { -1 }

  private var slots: [Slot] = []
  private var firstFree = none
  private var firstSlot = none
  private var lastSlot = none
  private(set) var count = 0

  var isEmpty: Bool { count == 0 }

  var first: Place? { place(firstSlot) }

  private func place(_ slot: Int) -> Place? { slot == Self.none ? nil : Place(slot: slot) }

  /// Returns the element at a place, and the place of the next element.
  func entry(at place: Place) -> (element: Element, next: Place?) {
    guard let element = slots[place.slot].element else {
      preconditionFailure("entry(at:) was called with the place of a removed element")
    }
    return (element, self.place(slots[place.slot].next))
  }

  mutating func append(_ element: Element) -> Place {
    let slot = Slot(element: element, previous: lastSlot, next: Self.none)
    let index = firstFree == Self.none ? slots.endIndex : firstFree
    if index == slots.endIndex {
      slots.append(slot)
    } else {
      firstFree = slots[index].next
      slots[index] = slot
    }
    if lastSlot == Self.none { firstSlot = index } else { slots[lastSlot].next = index }
    lastSlot = index
    count += 1
    return Place(slot: index)
  }

  mutating func remove(_ place: Place) {
    let (previous, next) = (slots[place.slot].previous, slots[place.slot].next)
    guard slots[place.slot].element != nil else {
      preconditionFailure("remove(_:) was called with the place of a removed element")
    }
    if previous == Self.none { firstSlot = next } else { slots[previous].next = next }
    if next == Self.none { lastSlot = previous } else { slots[next].previous = previous }
    slots[place.slot] = Slot(element: nil, previous: Self.none, next: firstFree)
    firstFree = place.slot
    count -= 1
  }
}

extension LinkedList: Sequence {
  struct Iterator: IteratorProtocol {
    fileprivate let list: LinkedList
    fileprivate var place: Place?

    mutating func next() -> Element? {
      guard let entry = place.map(list.entry) else { return nil }
      place = entry.next
      return entry.element
    }
  }

  func makeIterator() -> Iterator { Iterator(list: self, place: first) }
}
