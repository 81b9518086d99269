/// The few longest of many, the longest first; of those that are as long as one another, the earlier first.
struct Longest<Element> {
  private let capacity: Int
  private var kept: [(element: Element, length: Int64)] = []

  init(_ capacity: Int) { self.capacity = capacity }

  var elements: [Element] { kept.map(\.element) }

  /// What takes no time is not kept.
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
