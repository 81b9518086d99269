import FlowFiles
import Testing

@Suite(.needsYAML)
struct OrderTests {
  private static let file = """
    flow: f
    steps:
      last: {run: [x], after: [middle]}
      middle: {run: [x], needs: [first, other]}
      other: {run: [x]}
      first: {run: [x]}
      children: {run: [x], each: {lines-of: first}}
      same: {run: [x], each: {same-as: children}, needs: children}
    """

  @Test func `the order puts each step after its dependencies`() throws {
    let file = try FlowFile(yaml: Self.file)
    #expect(
      file.order.map { file.steps[$0].name }
        == ["first", "other", "middle", "last", "children", "same"])
  }

  @Test func `steps without dependencies keep the order of the file`() throws {
    let file = try FlowFile(yaml: "{flow: f, steps: {c: {run: x}, a: {run: x}, b: {run: x}}}")
    #expect(file.order == [0, 1, 2])
  }

  @Test func `dependents are the steps that name a step`() throws {
    let file = try FlowFile(yaml: Self.file)
    #expect(
      file.dependents == [
        "middle": ["last"], "first": ["middle", "children"], "other": ["middle"],
        "children": ["same"],
      ])
    #expect(file.steps.map(\.dependencies).last == ["children"])
  }

  @Test func `the steps from a step are those that depend on it, directly or indirectly`() throws {
    let file = try FlowFile(yaml: Self.file)
    #expect(try file.steps(from: "other") == ["other", "middle", "last"])
    #expect(try file.steps(from: "same") == ["same"])
    #expect(file.step(named: "same")?.name == "same")
    #expect(file.step(named: "none") == nil)
  }

  @Test func `an unknown step has the name of a similar one`() throws {
    let file = try FlowFile(yaml: Self.file)
    do throws(FlowFileError) {
      _ = try file.steps(from: "midle")
      Issue.record("expected an error")
    } catch {
      #expect(error.description == "flow.yaml: unknown step 'midle'; did you mean 'middle'?")
    }
  }

  @Test func `a chain of 20,000 steps has an order, and a ring of them is one cycle`() throws {
    func text(last: String) -> String {
      let steps = (0..<20_000).map { "  s\($0): {run: [x], needs: [s\($0 + 1)]}" }
      return "flow: f\nsteps:\n\(steps.joined(separator: "\n"))\n  s20000: {run: [x]\(last)}\n"
    }
    let file = try FlowFile(yaml: text(last: ""))
    #expect(file.order == Array((0...20_000).reversed()))
    let found = problems(of: text(last: ", needs: s0"))
    #expect(found.count == 1)
    #expect(found[0].hasPrefix("3:3: cycle: 's0' needs 's1', which needs 's2'"))
  }
}
