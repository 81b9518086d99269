/// Distinct texts, numbered in the order in which they arrived; long ones are clipped.
struct TextTable {
  private(set) var texts: [String] = []
  private var numbers: [String: Int] = [:]
  private let longest: Int

  /// - Parameter longest: The maximum number of scalars of a text.
  init(longest: Int) { self.longest = longest }

  mutating func number(of text: String) -> Int {
    if let number = numbers[text] { return number }
    let number = texts.count
    texts.append(text.clipped(to: longest))
    numbers[text] = number
    return number
  }
}
