import CompositeOperations
import Testing

@Suite struct TraceParentTests {
  private static let text = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

  @Test func `a trace parent has the text of the header`() throws {
    let parent = try #require(TraceParent(Self.text))
    #expect(parent.traceID == "4bf92f3577b34da6a3ce929d0e0e4736")
    #expect(parent.spanID.text == "00f067aa0ba902b7")
    #expect(parent.text == Self.text)
    for _ in 0..<100 {
      let random = TraceParent()
      #expect(TraceParent(random.text) == random)
      let sibling = random.withNewSpan()
      #expect(sibling.traceID == random.traceID && sibling.spanID != random.spanID)
    }
  }

  @Test func `the flags are ignored, and a later version may have more fields`() {
    let same = TraceParent(Self.text)
    #expect(TraceParent(Self.text.dropLast(2) + "00") == same)
    #expect(TraceParent("01" + Self.text.dropFirst(2) + "-more-fields") == same)
  }

  @Test(arguments: [
    "", "00", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
    // Version 0 has exactly four fields, and version 255 is invalid.
    "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-",
    "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    // Zeros.
    "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
    "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
    // Other digits.
    "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
    "00-4bf92f3577b34da6a3ce929d0e0e473g-00f067aa0ba902b7-01",
    "00-+bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b-01",
    "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b77-01",
    "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-1",
    "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-éa",
  ])
  func `invalid texts are not parsed`(_ text: String) { #expect(TraceParent(text) == nil) }
}
