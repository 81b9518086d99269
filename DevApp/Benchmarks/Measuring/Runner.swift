import CompositeOperations

/// A runner that measures the ways of a shape in turn, so that disturbances of the machine affect
/// all of them.
struct Runner {
  let sampler: Sampler
  let rounds: Int
  /// A way that has taken longer in total skips the remaining rounds, once it has a figure.
  var timeLimit: Duration?

  /// A way that takes longer than this finds cold caches anyway.
  private static let quick = Duration.milliseconds(50)

  func measure(_ shape: Shape) -> ShapeReport {
    var figures = shape.ways.map { _ in [Double]() }
    var checksums = shape.ways.map { _ in Set<UInt64>() }
    var spent = shape.ways.map { _ in Duration.zero }
    // Whether a way first runs once without being measured. Otherwise its figure would depend on
    // how much of the caches the previous way has evicted.
    var isQuick = shape.ways.map { _ in false }
    var problems: [Int: String] = [:]
    // In a different order each round, so that a way does not always follow the same one.
    var randomness = OperationRandomness.seeded(1)
    // The first round does not count.
    for round in 0...rounds {
      for index in shape.ways.indices.shuffled(using: &randomness) where problems[index] == nil {
        let way = shape.ways[index]
        if let timeLimit, spent[index] > timeLimit, !figures[index].isEmpty { continue }
        do {
          if isQuick[index] { _ = try sampler.sample(way) }
          let start = ContinuousClock.now
          let sample = try sampler.sample(way)
          let taken = ContinuousClock.now - start
          spent[index] += taken
          isQuick[index] = !sampler.isExact && taken < Self.quick
          checksums[index].insert(sample.checksum)
          if round == 0 { continue }
          figures[index].append(
            shape.unit.figure(of: sample.amount, operations: shape.operations))
        } catch {
          problems[index] = "\(shape.id), \(way.name): \(error)"
        }
      }
    }
    judge(checksums, of: shape, adding: &problems)
    let ways = shape.ways.indices.filter { problems[$0] == nil }.map { index in
      WayReport(
        name: shape.ways[index].name, role: shape.ways[index].role, samples: figures[index])
    }
    return ShapeReport(
      shape, ways: ways, problems: problems.sorted { $0.key < $1.key }.map(\.value))
  }

  /// Finds the ways whose checksum is not the most frequent one.
  private func judge(
    _ checksums: [Set<UInt64>], of shape: Shape, adding problems: inout [Int: String]
  ) {
    let measured = shape.ways.indices.filter { problems[$0] == nil }
    var votes: [UInt64: Int] = [:]
    for index in measured { for checksum in checksums[index] { votes[checksum, default: 0] += 1 } }
    guard votes.count > 1, let most = votes.values.max() else { return }
    let usual = measured.flatMap { checksums[$0].sorted() }.first { votes[$0] == most } ?? 0
    let agreeing = measured.filter { checksums[$0] == [usual] }.map { shape.ways[$0].name }
    for index in measured where checksums[index] != [usual] {
      let others = checksums[index].sorted().map(String.init).joined(separator: " and ")
      problems[index] =
        "\(shape.id), \(shape.ways[index].name): the checksum is \(others); it is always \(usual) for "
        + (agreeing.isEmpty ? "no way" : agreeing.joined(separator: "; "))
    }
  }
}
