import Synchronization

/// Counts what operations have done, from wherever they run, for whoever wants to show it.
final class ProgressMeter: Sendable {
  enum Stage: Int, Sendable {
    case starting, scanning, readingFirstBlocks, comparing

    var title: String {
      switch self {
      case .starting: "starting"
      case .scanning: "scanning"
      case .readingFirstBlocks: "reading first blocks"
      case .comparing: "comparing"
      }
    }
  }

  struct Reading: Sendable {
    let stage: Stage
    /// Of the stage, so far.
    let files: Int
    let bytes: Int
    /// The files that the stage will have done in the end, if that is known.
    let allFiles: Int?
  }

  private let stage = Atomic(Stage.starting.rawValue)
  private let allFiles = Atomic(0)
  private let files = Atomic(0)
  private let bytes = Atomic(0)

  /// Begins a stage; nothing of the one before is under way any more.
  func begin(_ next: Stage, files count: Int = 0) {
    files.store(0, ordering: .relaxed)
    bytes.store(0, ordering: .relaxed)
    allFiles.store(count, ordering: .relaxed)
    stage.store(next.rawValue, ordering: .releasing)
  }

  func add(files count: Int, bytes length: Int = 0) {
    if count > 0 { files.wrappingAdd(count, ordering: .relaxed) }
    if length > 0 { bytes.wrappingAdd(length, ordering: .relaxed) }
  }

  var reading: Reading {
    let stage = Stage(rawValue: stage.load(ordering: .acquiring)) ?? .starting
    let all = allFiles.load(ordering: .relaxed)
    return Reading(
      stage: stage, files: files.load(ordering: .relaxed), bytes: bytes.load(ordering: .relaxed),
      allFiles: all == 0 ? nil : all)
  }
}
