/// Texts, each once, by the order in which they came; long ones are clipped.
struct TextTable {
  private(set) var texts: [String] = []
  private var numbers: [String: Int] = [:]
  private let longest: Int

  /// - Parameter longest: How many scalars of a text are kept at most.
  init(longest: Int) { self.longest = longest }

  mutating func number(of text: String) -> Int {
    if let number = numbers[text] { return number }
    let number = texts.count
    texts.append(text.clipped(to: longest))
    numbers[text] = number
    return number
  }
}
