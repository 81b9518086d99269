import CompositeOperations

/// A source of random choices, which are the same for the same seed.
struct Chance {
  private var random: OperationRandomness

  init(seed: UInt64) { random = .seeded(seed) }

  mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

  mutating func seed() -> UInt64 { random.next() }

  /// Returns `true` with the given probability in percent.
  mutating func percent(_ percentage: Int) -> Bool { number(1...100) <= percentage }

  /// Returns one of several choices, with probabilities in proportion to their weights.
  mutating func pick<Choice>(_ choices: [(weight: Int, Choice)]) -> Choice {
    var left = number(1...choices.reduce(0) { $0 + $1.weight })
    for (weight, choice) in choices {
      left -= weight
      if left <= 0 { return choice }
    }
    preconditionFailure("`number` must be at most the sum of the weights")
  }

  mutating func maybe<Value>(_ percentage: Int, _ value: (inout Chance) -> Value) -> Value? {
    percent(percentage) ? value(&self) : nil
  }
}
