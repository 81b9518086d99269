/// The longest of many elements, in descending order. Of equal lengths, the earlier element comes
/// first.
struct Longest<Element> {
  private let capacity: Int
  private var kept: [(element: Element, length: Int64)] = []

  init(_ capacity: Int) { self.capacity = capacity }

  var elements: [Element] { kept.map(\.element) }

  /// Adds an element, unless its length is 0 or too short.
  mutating func add(_ element: Element, length: Int64) {
    guard length > 0 else { return }
    if kept.count == capacity {
      guard let last = kept.last, last.length < length else { return }
      kept.removeLast()
    }
    let place = kept.firstIndex { $0.length < length } ?? kept.endIndex
    kept.insert((element, length), at: place)
  }
}
