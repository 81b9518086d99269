import CompositeOperations
import RecordOperations
import Testing

@Suite struct MirrorDeletionTests {
  @Test(arguments: DeletionPolicy.allCases)
  func `M5: the policy decides between an edit and a deletion`(policy: DeletionPolicy) async throws
  {
    let pair = try MirrorPair(deletions: policy)
    for name in ["1", "2", "3", "4"] {
      try await pair.base.save(record(name, ["title": "Emma", "pages": 1]))
    }
    try await pair.sync()
    // A remote deletion and a local edit; a local deletion and a remote edit; the same without an
    // edit.
    _ = try await pair.base.modify(
      RecordBatch([.delete(id("1"), ifTagged: nil), .delete(id("3"), ifTagged: nil)]))
    try await pair.local.save(record("1", ["title": "Sanditon"]))
    try await pair.execute("DELETE FROM Book WHERE id IN ('2', '4')")
    try await pair.base.save(record("2", ["title": "Persuasion"]))
    try await pair.sync()
    switch policy {
    case .lose:
      #expect(try await pair.names == [["1", "2"], ["1", "2"]])
      #expect(try await pair.values("1", "pages") == [1, 1])
      #expect(
        Set(try await pair.lost) == [
          "Book/1 deletion null null remote", "Book/2 deletion null null local",
        ])
    case .win:
      #expect(try await pair.names == [[], []])
      #expect(
        Set(try await pair.lost) == [
          #"Book/1 title "Sanditon" null local"#, #"Book/2 title "Persuasion" null remote"#,
        ])
    }
    #expect(try await pair.sync().isEmpty)
  }

  @Test func `M5: a record that was deleted and created again exists everywhere (sqlite-data 418)`()
    async throws
  {
    let pair = try MirrorPair()
    try await pair.base.save(record("1", ["title": "Emma", "pages": 1]))
    try await pair.sync()
    try await pair.execute(
      "DELETE FROM Book WHERE id = '1'", "INSERT INTO Book (id, title) VALUES ('1', 'Sanditon')")
    try await pair.sync()
    #expect(try await pair.values("1", "title") == ["Sanditon", "Sanditon"])
    #expect(try await pair.values("1", "pages") == [.null, .null])
    // With a round in between, the new record has nothing in common with the old one.
    try await pair.execute("DELETE FROM Book")
    try await pair.sync()
    #expect(try await pair.names == [[], []])
    try await pair.local.save(record("1", ["title": "Persuasion"]))
    try await pair.sync()
    #expect(try await pair.values("1", "title") == ["Persuasion", "Persuasion"])
  }

  @Test(arguments: ["Emma", "Persuasion"])
  func `M5: a record that exists again gets remote fields that the file has no columns for`(
    title: FieldValue
  ) async throws {
    let isStrict = Lock(false)
    let pair = try MirrorPair(deletions: .win) { request, _ in
      guard case .modify = request, isStrict.withLock(\.self) else { return nil }
      return .failing { _ in RecordError(.notPermitted("not today")) }
    }
    try await pair.local.save(record("1", ["title": "Emma"]))
    try await pair.sync()
    // The deletion wins, but cannot be sent.
    _ = try await pair.local.modify(RecordBatch([.delete(id("1"), ifTagged: nil)]))
    try await pair.base.save(record("1", ["pages": 7]))
    isStrict.withLock { $0 = true }
    try await pair.sync()
    #expect(try await pair.lost == ["Book/1 pages 7 null remote"])
    isStrict.withLock { $0 = false }
    try await pair.local.save(record("1", ["title": title]))
    try await pair.sync()
    #expect(try await pair.values("1", "title") == [title, title])
    #expect(try await pair.values("1", "pages") == [7, 7])
    #expect(try await pair.sync().isEmpty)
  }

  @Test func `M5: a deleted record stays if an unsent one refers to it`() async throws {
    let pair = try MirrorPair()
    let author = RecordID("Author", "jane")
    try await pair.base.save(record("jane", type: "Author", ["name": "Jane"]))
    try await pair.base.save(record("1", ["author": reference("jane", .cascade)]))
    try await pair.sync()
    try await pair.local.save(record("2", ["author": reference("jane", .cascade)]))
    _ = try await pair.base.modify(RecordBatch([.delete(author, ifTagged: nil)]))
    #expect(try await pair.base.record(id("1")) == nil)
    try await pair.sync()
    #expect(try await pair.names == [["2"], ["2"]])
    #expect(try await pair.base.record(author)?["name"] == "Jane")
    #expect(try await pair.lost == ["Author/jane deletion null null remote"])
  }

  @Test func `M5: a deletion that another record prevents is undone and reported`() async throws {
    let pair = try MirrorPair()
    try await pair.base.save(record("jane", type: "Author", ["name": "Jane"]))
    try await pair.sync()
    try await pair.base.save(record("1", ["author": reference("jane", .deny)]))
    try await pair.execute("DELETE FROM Author")
    try await pair.sync()
    #expect(try await pair.names == [["1"], ["1"]])
    #expect(try await pair.local.record(RecordID("Author", "jane"))?["name"] == "Jane")
    #expect(try await pair.lost == ["Author/jane deletion null null local"])
    #expect(try await pair.sync().isEmpty)
    // The same if the other record is of a type that is not mirrored.
    let authors = try MirrorPair(types: ["Author"])
    try await authors.base.save(record("jane", type: "Author", ["name": "Jane"]))
    try await authors.base.save(record("1", ["author": reference("jane", .deny)]))
    try await authors.sync()
    try await authors.execute("DELETE FROM Author")
    try await authors.sync()
    #expect(try await authors.local.record(RecordID("Author", "jane"))?["name"] == "Jane")
    #expect(try await authors.lost == ["Author/jane deletion null null local"])
    #expect(try await authors.sync().isEmpty)
  }
}
