/// First in, first out, at a cost that does not depend on how many wait.
package struct Line<Element: Sendable>: Sendable {
  private var front: [Element] = []
  private var back: [Element] = []

  package init() {}

  package var count: Int { front.count + back.count }

  package mutating func append(_ element: Element) { back.append(element) }

  package mutating func popFirst() -> Element? {
    if front.isEmpty {
      front = back.reversed()
      back = []
    }
    return front.popLast()
  }
}
