import RecordOperations
import Testing

@Suite struct RecordIDTests {
  @Test func `canonically equivalent names with different bytes identify different records`() {
    let composed = RecordID("Book", "\u{e9}")
    let decomposed = RecordID("Book", "e\u{301}")
    #expect(composed != decomposed)
    #expect(composed == RecordID("Book", "\u{e9}"))
    #expect(Set([composed, decomposed]).count == 2)
  }
}
