import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct FlowChildrenTests {
  @Test func `L10: each runs a child for each value of a list, a glob and the lines of a step`()
    async throws
  {
    let flow = try FlowFixture(
      """
      "list": {"each": ["a", "${v}"], "run": "echo list $each >> log"},
      "glob": {"each": "in/**/*.txt", "run": "echo glob $each >> log"},
      "names": {"run": "echo error >&2; printf 'x\\\\ny\\\\n\\\\nx\\\\n'"},
      "lines": {"each": {"lines-of": "names"}, "run": "echo lines $each >> log"}
      """, head: #""values": {"v": "b"},"#)
    for name in ["in/1.txt", "in/deep/2.txt", "in/.hidden/3.txt", "in/4.md"] {
      try flow.folder.write("", to: name)
    }
    let printed = try await flow.run()
    #expect(printed.status == 0, "\(printed.error)")
    #expect(
      Set(flow.lines("log")) == [
        "list a", "list b", "glob in/1.txt", "glob in/deep/2.txt", "lines x", "lines y",
      ])
    #expect(flow.lines("log").count == 6)
    #expect(printed.ends.contains("list[b]: succeeded"))
    #expect(printed.ends.contains("glob[in/deep/2.txt]: succeeded"))
    #expect(flow.output("names") == "error\nx\ny\n\nx\n")
  }

  @Test func `L10: an empty list of children succeeds`() async throws {
    let flow = try FlowFixture(
      """
      "none": {"run": "true"}, "a": {"each": {"lines-of": "none"}, "run": "exit 1"},
      "b": {"run": "touch b", "needs": ["a"]}
      """)
    let printed = try await flow.run()
    #expect(printed.status == 0, "\(printed.error)")
    #expect(flow.exists("b"))
  }

  @Test func `L10: a failed child does not stop the others, and then the step fails`()
    async throws
  {
    let flow = try FlowFixture(
      """
      "a": {"each": ["1", "2", "3", "4"], "width": 1, "run": "test $each != 2; touch $each"},
      "b": {"run": "touch b", "needs": ["a"]}
      """)
    let printed = try await flow.run()
    #expect(printed.status == 1)
    #expect(flow.exists("1") && flow.exists("3") && flow.exists("4") && !flow.exists("b"))
    #expect(printed.ends.last == "a: failed, 1 of 4 children failed")
    #expect(printed.error.contains("step 'a[2]' failed: exit status 1 after 1 attempt"))
  }

  @Test func `L10: more than 100,000 lines fail the step that writes them`() async throws {
    let flow = try FlowFixture(
      """
      "a": {"run": ["seq", "100001"], "retries": 3},
      "b": {"each": {"lines-of": "a"}, "run": "true"}
      """)
    let printed = try await flow.run()
    #expect(
      printed.ends == ["a: failed, it wrote 100,001 lines; lines-of reads at most 100,000"])
  }

  @Test func `L10: lines that a background process may still write fail the step`() async throws {
    let flow = try FlowFixture(
      """
      "a": {"run": "echo 1; sleep 3600 & echo $! > left"},
      "b": {"each": {"lines-of": "a"}, "run": "touch b"}
      """)
    let printed = try await flow.run()
    #expect(
      printed.ends.first
        == "a: failed, a process that it has left in the background holds its standard output open, "
        + "so lines may be missing; redirect the output of that process", "\(printed.text)")
    #expect(!flow.exists("b"))
    #expect(flow.output("a") == "1\n")
    // As after any failure.
    let left = try #require(flow.lines("left").first.flatMap { Int32($0) })
    #expect(hasEnded(left))
  }

  @Test func `L10: a child of same-as begins when the child of the other step has succeeded`()
    async throws
  {
    // The first child of the first step waits for the second step's child of the other value.
    let wait = "if test $each = x; then while ! test -e 2y; do sleep 0.01; done; fi"
    let flow = try FlowFixture(
      """
      "first": {"each": ["x", "y"], "run": "\(wait); touch 1$each"},
      "second": {"each": {"same-as": "first"}, "run": "test -e 1$each; touch 2$each"},
      "third": {"each": {"same-as": "second"}, "run": "test -e 2$each; touch 3$each"},
      "last": {"run": "test -e 3x; test -e 3y", "needs": ["third"]}
      """, head: #""width": 2,"#)
    let printed = try await flow.run()
    #expect(printed.status == 0, "\(printed.error)")
    #expect(flow.exists("3x") && flow.exists("3y"))
  }

  @Test func `L10: a failed child skips only its own child of same-as`() async throws {
    let flow = try FlowFixture(
      """
      "first": {"each": ["x", "y"], "run": "test $each = y"},
      "second": {"each": {"same-as": "first"}, "run": "touch 2$each"},
      "after": {"run": "touch after", "after": ["second"]},
      "needs": {"run": "touch needs", "needs": ["second"]}
      """)
    let printed = try await flow.run("--keep-going")
    #expect(printed.status == 1)
    #expect(flow.exists("2y") && !flow.exists("2x"))
    #expect(flow.exists("after") && !flow.exists("needs"))
    #expect(printed.ends.contains("second[x]: skipped, it needs 'first[x]'"))
    #expect(printed.ends.contains("second: skipped, not all of its children ran"))
  }

  @Test func `the children of a step whose need is skipped do not begin, nor do those of same-as`()
    async throws
  {
    let flow = try FlowFixture(
      """
      "a": {"run": "true", "only-if": "exit 1"},
      "first": {"each": ["x"], "run": "touch 1", "needs": ["a"]},
      "second": {"each": {"same-as": "first"}, "run": "touch 2"},
      "after": {"run": "touch after", "after": ["second"]}
      """)
    let printed = try await flow.run()
    #expect(printed.status == 0, "\(printed.error)")
    #expect(!flow.exists("1") && !flow.exists("2") && flow.exists("after"))
  }

  @Test func `the width of a step limits its children`() async throws {
    let flow = try FlowFixture(
      """
      "a": {"each": ["1", "2", "3", "4", "5"], "width": 1,
        "run": "mkdir busy; sleep 0.01; rmdir busy"}
      """, head: #""width": 5,"#)
    #expect(try await flow.run().status == 0)
  }
}
