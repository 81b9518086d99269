import CommandLineOperations
import CompositeOperations
import DurableOperations
import Foundation

/// A search for duplicates whose steps are stored in a journal, so that it continues after a crash.
struct JournaledSearch {
  let id: RunID
  private let find: FindDuplicates
  private let journal: String
  private let store: RunStore

  /// - Parameter journal: The path of the journal.
  init(_ find: FindDuplicates, in paths: [RawPath], includesEmpty: Bool, journal: String) {
    self.find = find
    self.journal = journal
    // A search can be repeated, so a power failure may lose its last steps. A large tree has large
    // lists of files.
    store = .sqlite(journal, options: RunStoreOptions(durability: .normal, valueLimit: 900_000_000))
    id = Self.name(of: paths, includesEmpty: includesEmpty)
  }

  /// The flow of the search.
  var operation: some ComposableOperation<DuplicateReport> {
    DurableOperation(find, named: id, in: store).named("duplicates")
  }

  /// Prepares the journal: a run that has ended is forgotten, so that changed files are seen.
  ///
  /// - Returns: What the user should know about an earlier run; nil if there is none.
  func prepare() async throws -> String? {
    guard let run = try await store.summary(of: id) else { return nil }
    let steps = run.step.counted("finished step")
    switch run.state {
    case .result, .error, .cancelled:
      try await store.forget(id)
      return "forgot run \(id), which has ended; the search starts again"
    case .stuck:
      try await store.retry(id)
      return "continues run \(id) after \(steps); it was stuck: \(run.reason ?? "no reason")"
    case .ready, .running, .interrupted, .parked:
      return "continues run \(id) after \(steps)"
    }
  }

  /// Removes the files that SQLite keeps beside the journal.
  func close() async { await store.close() }

  /// What to do after an interruption.
  var advice: String {
    "the same command continues run \(id) in \(RawPath(journal)), after its last finished step"
  }

  /// The name of the run: the same for the same paths and options in the same working folder.
  private static func name(of paths: [RawPath], includesEmpty: Bool) -> RunID {
    let folder = Array(FileManager.default.currentDirectoryPath.utf8)
    let words = [folder, includesEmpty ? [1] : [0]] + paths.map { Array($0.bytes) }
    // With their lengths, so that different lists of words have different bytes.
    let bytes = words.flatMap { Array("\($0.count):".utf8) + $0 }
    let digits = String(bytes.hash64, radix: 16)
    return RunID("duplicates-" + String(repeating: "0", count: 16 - digits.count) + digits)
  }
}
