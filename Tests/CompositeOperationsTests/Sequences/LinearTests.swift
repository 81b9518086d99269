import CompositeOperations
import CompositeOperationsTestKit
import Testing

@Suite struct LinearTests {
  @Test func `S7: an empty linear sequence has a result without steps`() async {
    #expect(await SequentialOperation(.linear([])).run().result?.isEmpty == true)
    #expect(await SequentialOperation(LinearSequence()).run().result?.isEmpty == true)
  }

  @Test func `S7: linear runs operations of different types one after another`() async {
    for sequence in [
      LinearSequence(SimpleOperation { 1 }, SimpleOperation { "a" }.named("a")),
      .linear(SimpleOperation { 1 }, SimpleOperation { "a" }.named("a")),
    ] {
      let steps = await SequentialOperation(sequence).run().result
      #expect(steps?.map { "\($0.outcome)" } == ["result(1)", "result(\"a\")"])
    }
    #expect(await SequentialOperation(.linear(SimpleOperation { 1 })).run().result?.count == 1)
  }

  @Test(arguments: Setting.all)
  func `S7: linear continues while steps end in a result, and ends early at nil`(setting: Setting)
    async throws
  {
    let begun = Log<String>()
    @Sendable func step(_ name: String, _ outcome: Outcome<Int>) -> any ComposableOperation {
      SimpleOperation {
        begun.add(name)
        await setting.pause()
        return try outcome.get()
      }
    }
    let failing = try await setting.run {
      await SequentialOperation(
        .linear([
          step("a", .result(1)), step("b", .error(TestError("b"))), step("c", .result(3)),
        ])
      ).run()
    }
    #expect(failing.error.map { "\($0)" }?.contains("b") == true)
    #expect(begun.entries == ["a", "b"])
    let stopping = try await setting.run {
      await SequentialOperation(.linear([step("d", .cancelled), step("e", .result(1))])).run()
    }
    #expect(stopping.isCancelled)
    let early = try await setting.run {
      await SequentialOperation(
        LinearSequence(
          { _ in setting.giving(20) },
          { previous in previous?.result(as: Int.self).map { setting.giving($0 + 1) } },
          { _ in nil },
          { _ in setting.giving(99) }
        )
      ).run()
    }
    #expect(early.result?.map(\.outcome.kind) == ["result 20", "result 21"])
  }
}
