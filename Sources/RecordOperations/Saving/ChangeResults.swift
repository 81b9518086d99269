/// The results of changes that several requests make.
struct ChangeResults {
  /// The changes, at most one for each record.
  private let changes: [RecordChange]
  private let isAtomic: Bool
  /// The result of each change; `nil` if no request was made for it.
  private var replies: [RecordReply?]
  /// Whether it is not known if an atomic batch without a reply was carried out.
  var mayBeApplied = false

  init(of changes: [RecordChange], atomically isAtomic: Bool) {
    self.changes = changes
    self.isAtomic = isAtomic
    replies = Array(repeating: nil, count: changes.count)
  }

  /// The result of a change; `nil` if no request was made for it.
  subscript(index: Int) -> RecordReply? {
    get { replies[index] }
    set { replies[index] = newValue }
  }

  func hasFailed(_ index: Int) -> Bool { replies[index]?.isFailure == true }

  /// Records an error for changes.
  mutating func fail(_ indices: some Sequence<Int>, with error: RecordError) {
    for index in indices {
      var error = error
      error.record = changes[index].id
      replies[index] = .failed(error)
    }
  }

  /// The result of each change if all of them were made: saved or deleted.
  var ofSuccess: [RecordReply]? {
    let made = replies.compactMap(\.self).filter { !$0.isFailure }
    return made.count == changes.count ? made : nil
  }

  /// Returns the error for changes that were not made, or for a cancellation.
  mutating func error(cancelled isCancelled: Bool) -> RecordBatchError {
    if isAtomic {
      // Also deletions of missing records, which were settled as done.
      fail(
        changes.indices.filter { replies[$0].map { !$0.isFailure } ?? false },
        with: RecordError(.batchFailed))
      if mayBeApplied { fail(changes.indices, with: RecordError(.replyLost)) }
    }
    var saved: [DatabaseRecord] = []
    var deleted: [RecordID] = []
    var failures: [RecordError] = []
    var unsent: [RecordID] = []
    for (change, reply) in zip(changes, replies) {
      switch reply {
      case .saved(let record): saved.append(record)
      case .deleted: deleted.append(change.id)
      case .failed(let error): failures.append(error)
      case nil: unsent.append(change.id)
      }
    }
    return RecordBatchError(
      saved: saved, deleted: deleted, failures: failures, unsent: unsent,
      representsCancellation: isCancelled)
  }
}

extension RecordReply {
  fileprivate var isFailure: Bool { if case .failed = self { true } else { false } }
}
