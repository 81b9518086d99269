import CompositeOperations
import Foundation
import Observation
import RecordOperations
import SQLiteSupport
import Testing

private struct Edition: Codable, Identifiable, RecordConvertible, Equatable {
  let id: String
  var title: String
  var pages: Int?
}

/// Counts its conversions.
private struct Counted: RecordConvertible, Equatable {
  static let conversions = Lock(0)
  static let ranOnMainThread = Lock(false)

  let id: String
  let n: FieldValue
  var recordName: String { id }

  init(_ record: DatabaseRecord) throws {
    Self.conversions.withLock { $0 += 1 }
    if Thread.isMainThread { Self.ranOnMainThread.withLock { $0 = true } }
    id = record.id.name
    n = record["n"]
  }

  func fill(_ record: inout DatabaseRecord) { record["n"] = n }
}

@Suite(.timeLimit(.minutes(10))) struct MirroredArrayTests {
  private func describe(_ change: MirroredArray<Edition>.Change) -> String {
    switch change {
    case .inserted(let edition, let index): "inserted \(edition.id) at \(index)"
    case .updated(let edition, let index): "updated \(edition.title) at \(index)"
    case .removed(let edition, let index): "removed \(edition.id) at \(index)"
    case .unreadable(let id, _): "unreadable \(id.name)"
    }
  }

  @Test @MainActor
  func `an array inserts, updates and removes elements, and shows what others change`()
    async throws
  {
    let pair = try MirrorPair(types: ["Edition"])
    let editions = pair.mirror.array(of: Edition.self)
    var changes = editions.changes.makeAsyncIterator()
    try await editions.refresh()
    #expect(editions.elements == [])
    try await editions.insert(Edition(id: "2", title: "Emma"))
    try await editions.insert(Edition(id: "1", title: "Persuasion", pages: 249))
    #expect(editions.elements.map(\.id) == ["1", "2"])
    // Another program changes a field that the array shows with an older value.
    try await pair.execute("UPDATE Edition SET pages = 300 WHERE id = '1'")
    try await editions.update(Edition(id: "1", title: "Sanditon", pages: 249))
    #expect(editions.elements[0] == Edition(id: "1", title: "Sanditon", pages: 300))
    try await editions.remove(editions.elements[1])
    #expect(editions.elements.map(\.id) == ["1"])
    var found: [String] = []
    while found.count < 4, let change = await changes.next() { found.append(describe(change)) }
    #expect(
      found == ["inserted 2 at 0", "inserted 1 at 0", "updated Sanditon at 0", "removed 2 at 1"])
    // Local edits are sent, and remote changes appear.
    try await pair.sync()
    #expect(try await pair.base.all(RecordQuery("Edition")).map(\.id.name) == ["1"])
    try await pair.base.save(record("3", type: "Edition", ["title": "Emma"]))
    try await pair.sync()
    try await editions.refresh()
    #expect(editions.elements.map(\.title) == ["Sanditon", "Emma"])
  }

  @Test func `an array reports a record that cannot be an element`() async throws {
    let pair = try MirrorPair(types: ["Edition"])
    let editions = pair.mirror.array(of: Edition.self)
    var changes = editions.changes.makeAsyncIterator()
    try await pair.local.save(record("1", type: "Edition", ["title": "Emma", "pages": "many"]))
    try await editions.refresh()
    #expect(editions.elements == [])
    #expect(await changes.next().map(describe) == "unreadable 1")
    try await pair.execute("UPDATE Edition SET pages = NULL")
    try await editions.refresh()
    #expect(editions.elements.map(\.id) == ["1"])
    // A record that becomes unreadable is removed.
    try await pair.execute("UPDATE Edition SET title = NULL")
    try await editions.refresh()
    #expect(editions.elements == [])
  }

  @Test @MainActor
  func `an array converts many records once, in order and not on its actor`() async throws {
    let pair = try MirrorPair(types: ["Counted"])
    let counted = pair.mirror.array(of: Counted.self)
    // In another order than the order of the names.
    let ids = (0..<2_000).map { "\($0 * 1_999 % 2_000)" }
    var changes = counted.changes.makeAsyncIterator()
    let observed = Lock(0)
    var shown: [Counted] = []
    var ended = 0
    for names in [ids[..<1_500], ids[500...], ids[..<10]] {
      for name in names {
        try await pair.local.save(record(name, type: "Counted", ["n": .integer(Int64(ended))]))
      }
      if ended == 1 { try await pair.execute("DELETE FROM Counted WHERE id < '15'") }
      withObservationTracking {
        _ = counted.elements
      } onChange: {
        observed.withLock { $0 += 1 }
      }
      let before = Counted.conversions.withLock { $0 }
      try await counted.refresh()
      ended += 1
      #expect(Counted.conversions.withLock { $0 } - before <= names.count)
      #expect(observed.withLock { $0 } == ended)
      // The changes, made one by one, give the elements.
      while shown != counted.elements, let change = await changes.next() {
        switch change {
        case .inserted(let element, let index): shown.insert(element, at: index)
        case .updated(let element, let index): shown[index] = element
        case .removed(let element, let index): #expect(shown.remove(at: index) == element)
        case .unreadable(let id, let error): Issue.record("\(id): \(error)")
        }
      }
      #expect(shown.map(\.id) == shown.map(\.id).sorted())
    }
    #expect(!Counted.ranOnMainThread.withLock { $0 })
  }

  @Test func `the errors of an array name the record`() async throws {
    let pair = try MirrorPair(types: ["Edition"])
    let editions = pair.mirror.array(of: Edition.self)
    let emma = Edition(id: "1", title: "Emma")
    let errors = [
      await #expect(throws: RecordError.self) { try await editions.update(emma) },
      await #expect(throws: RecordError.self) { try await editions.remove(emma) },
    ]
    #expect(errors.map { $0?.name } == ["unknownRecord", "unknownRecord"])
    try await editions.insert(emma)
    let conflict = await #expect(throws: RecordError.self) { try await editions.insert(emma) }
    #expect(conflict?.name == "conflict" && conflict?.record == RecordID("Edition", "1"))
  }

  @Test func `an array starts over when the changes since its last state are forgotten`()
    async throws
  {
    let pair = try MirrorPair(types: ["Edition"])
    let editions = pair.mirror.array(of: Edition.self)
    for id in ["1", "2", "3"] { try await editions.insert(Edition(id: id, title: "Emma")) }
    try await pair.execute("DELETE FROM Edition WHERE id = '2'")
    // A record of another type has the same name.
    try await pair.local.save(record("2", type: "Author", ["name": "Jane"]))
    try await pair.local.forgetDeletions(before: .distantFuture)
    try await editions.refresh()
    #expect(editions.elements.map(\.id) == ["1", "3"])
  }

  @Test @MainActor func `X50: views and rounds use an array at the same time`() async throws {
    let pair = try MirrorPair(types: ["Edition"])
    let editions = pair.mirror.array(of: Edition.self)
    let follower = Task { @MainActor in try await editions.follow() }
    let observed = Lock(0)
    withObservationTracking {
      _ = editions.elements
    } onChange: {
      observed.withLock { $0 += 1 }
    }
    let (base, mirror) = (pair.base, pair.mirror)
    async let rounds: Void = {
      for number in 0..<5 {
        try await base.save(record("r\(number)", type: "Edition", ["title": "Emma"]))
        _ = try await mirror.sync.run().get()
      }
    }()
    for number in 0..<5 { try await editions.insert(Edition(id: "l\(number)", title: "Emma")) }
    try await rounds
    while editions.elements.count < 10 { await Task.yield() }
    #expect(
      editions.elements.map(\.id) == ["l0", "l1", "l2", "l3", "l4", "r0", "r1", "r2", "r3", "r4"])
    #expect(observed.withLock(\.self) == 1)
    follower.cancel()
    _ = await follower.result
  }
}
