/// What is known of the children of a source: their results, if these are kept, and of the others
/// how they ended.
struct SourceRecord<Child: ComposableOperation>: Sendable {
  /// A child that ended without a result.
  struct Loss: Sendable {
    let index: Int
    let name: String
    let state: ChildState
    let error: (any Error)?
  }

  let keepsResults: Bool
  private(set) var results: [Child.Success?] = []
  private(set) var disposals: [Int: Disposal] = [:]
  /// In the order of time.
  private(set) var losses: [Loss] = []
  private(set) var sourceError: (any Error)?
  private var begun = 0

  init(keepsResults: Bool) { self.keepsResults = keepsResults }

  /// - Returns: The place of a child that is about to begin.
  mutating func childBegins() -> Int {
    if keepsResults { results.append(nil) }
    begun += 1
    return begun - 1
  }

  mutating func ended(_ index: Int, with result: Child.Success, disposal: Disposal?) {
    guard keepsResults else { return }
    results[index] = result
    disposals[index] = disposal
  }

  mutating func ended(_ loss: Loss) { losses.append(loss) }

  mutating func sourceFailed(with error: any Error) { sourceError = error }

  var isComplete: Bool { losses.isEmpty && sourceError == nil }
}
