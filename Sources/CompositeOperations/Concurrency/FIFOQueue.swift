/// A FIFO queue. Appending and removing an element takes amortized constant time.
package struct FIFOQueue<Element: Sendable>: Sendable {
  private var front: [Element] = []
  private var back: [Element] = []

  package init() {}

  package var count: Int { front.count + back.count }

  package var first: Element? { front.last ?? back.first }

  package mutating func append(_ element: Element) { back.append(element) }

  package mutating func popFirst() -> Element? {
    if front.isEmpty {
      front = back.reversed()
      back = []
    }
    return front.popLast()
  }
}
