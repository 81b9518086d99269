import RecordOperations
import Testing

@Suite struct RecordIDTests {
  @Test func `names that read the same and have other bytes are of two records`() {
    let composed = RecordID("Book", "\u{e9}")
    let decomposed = RecordID("Book", "e\u{301}")
    #expect(composed != decomposed)
    #expect(composed == RecordID("Book", "\u{e9}"))
    #expect(Set([composed, decomposed]).count == 2)
  }
}
