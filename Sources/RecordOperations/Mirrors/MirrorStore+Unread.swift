/// Records whose remote state could not be read.
extension MirrorStore {
  /// Reports a record whose remote state could not be read, once for each reason, and keeps that it has to be looked up.
  mutating func postpone(_ error: RecordError) throws {
    guard let id = error.record else { return }
    var base = try tables.base(of: id) ?? MirrorBase()
    let text = error.reason.description
    if !base.pending.contains(.unread) || base.rejection != text { report(.rejected(error)) }
    base.pending.insert(.unread)
    // The remote database has it.
    base.pending.remove(.missing)
    (base.rejection, base.rejected) = (text, nil)
    try tables.save(base, of: id)
  }

  /// Stores the remote state of a record that could not be read before.
  ///
  /// - Parameter record: Nil if the remote database does not have it any more.
  mutating func integrateUnread(_ record: DatabaseRecord?, named id: RecordID) throws {
    if let record { return try integrate([record]) }
    guard var base = try tables.base(of: id) else { return }
    base.pending.remove(.unread)
    (base.rejection, base.rejected) = (nil, nil)
    let isUnknown = base.tag == nil && base.waiting == nil && base.sent == nil
    if isUnknown, base.pending.isEmpty { return try tables.removeBase(of: id) }
    try tables.save(base, of: id)
    try tables.markMissing(id)
  }
}
