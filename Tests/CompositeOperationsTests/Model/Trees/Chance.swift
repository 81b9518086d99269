import CompositeOperations

/// What trees are drawn by: the same for the same seed.
struct Chance {
  private var random: OperationRandomness

  init(seed: UInt64) { random = .seeded(seed) }

  mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

  mutating func seed() -> UInt64 { random.next() }

  /// Whether something happens that happens so many times in a hundred.
  mutating func percent(_ percentage: Int) -> Bool { number(1...100) <= percentage }

  /// One of several, each as likely as its weight says.
  mutating func pick<Choice>(_ choices: [(weight: Int, Choice)]) -> Choice {
    var left = number(1...choices.reduce(0) { $0 + $1.weight })
    for (weight, choice) in choices {
      left -= weight
      if left <= 0 { return choice }
    }
    preconditionFailure("The weights add up to more than their sum.")
  }

  mutating func maybe<Value>(_ percentage: Int, _ value: (inout Chance) -> Value) -> Value? {
    percent(percentage) ? value(&self) : nil
  }
}
