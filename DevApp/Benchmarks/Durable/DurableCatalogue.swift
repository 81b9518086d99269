/// The shapes of durable flows. Each is created when it is measured.
struct DurableCatalogue {
  let folder: DurableFolder
  let peers: Peers?
  var isQuick = false

  static let ids = [
    "one-flow", "flows-64", "one-flow-normal", "under-load", "resume", "takeover", "parked",
    "parked-memory", "journaled",
  ]

  /// The name of the way of this package in the shapes about steps.
  static let ours = "durable"
  static let bareInsert = "bare insert"

  /// Returns the shapes with some names, or all.
  func shapes(named names: [String]) -> [Shape] {
    let parked = Prepared { Result { try ParkedRuns(count: parkedCount, in: folder) } }
    return Self.ids.filter { id in names.isEmpty || names.contains(id) }
      .compactMap { shape($0, parked) }
  }

  private var parkedCount: Int { isQuick ? 10_000 : 100_000 }

  private func shape(_ id: String, _ parked: Prepared<Result<ParkedRuns, any Error>>) -> Shape? {
    let steps = isQuick ? 500 : 2_000
    return switch id {
    case "one-flow":
      .durableSteps(id, FlowWork(flows: 1, steps: steps, in: folder), peers, count: 100)
    case "flows-64":
      .durableSteps(id, FlowWork(flows: 64, steps: steps / 10, in: folder), peers, count: 320)
    case "one-flow-normal":
      .durableSteps(id, FlowWork(flows: 1, steps: 2 * steps, durability: .normal, in: folder))
    case "under-load":
      .durableSteps(id, FlowWork(flows: 1, steps: steps, isUnderLoad: true, in: folder))
    case "resume": .resume(steps: isQuick ? 10_000 : 100_000, in: folder)
    case "takeover": .takeover(in: folder)
    case "parked": .parked(parked, due: parkedCount / 100, of: parkedCount)
    case "parked-memory": .parkedMemory(parked, of: parkedCount)
    case "journaled": .journaled(count: 200_000)
    default: nil
    }
  }
}
