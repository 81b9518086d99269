import CommandLineOperations
import Testing

@Suite struct TraceOptionsTests {
  /// Takes the options, and returns what is left.
  private func parse(
    _ arguments: [RawPath], into options: inout TraceOptions
  ) throws(UsageError) -> [RawPath] {
    var others: [RawPath] = []
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      if try options.take(argument, from: &rest, for: "count") { continue }
      others.append(argument)
    }
    return others
  }

  @Test func `both options are taken with their values, and others are left`() throws {
    var options = TraceOptions()
    #expect(options.trace == nil)
    #expect(options.timeline == nil)
    let others = try parse(
      ["a", "--trace", "t.json", "--trace=x", "--timeline", "b.SVG", "c"], into: &options)
    #expect(others == ["a", "--trace=x", "c"])
    #expect(options.trace == "t.json")
    #expect(options.timeline == "b.SVG")
  }

  @Test func `the last value of a repeated option counts`() throws {
    var options = TraceOptions()
    _ = try parse(["--trace", "a", "--trace", "--trace"], into: &options)
    #expect(options.trace == "--trace")
  }

  @Test(arguments: [
    ["--trace"], ["--trace", ""], ["--trace", RawPath(bytes: [0xFF])],
  ])
  func `a trace without a file is a usage error`(arguments: [RawPath]) {
    let error = #expect(throws: UsageError.self) {
      var options = TraceOptions()
      _ = try parse(arguments, into: &options)
    }
    #expect(
      error?.description
        == "count: --trace without a FILE; expected the name of a file to write")
  }

  @Test(arguments: ["a", "a.json", "html", "a.html.gz"])
  func `a timeline is a web page or an image`(file: String) {
    let error = #expect(throws: UsageError.self) {
      var options = TraceOptions()
      _ = try parse(["--timeline", RawPath(file)], into: &options)
    }
    #expect(
      error?.description
        == "count: invalid timeline file \(file); expected a name that ends in .html or .svg")
  }

  @Test func `the usage describes both options`() {
    for option in ["--trace FILE", "--timeline FILE"] {
      #expect(
        TraceOptions.usage.contains("\n  \(option)") || TraceOptions.usage.hasPrefix("  \(option)"))
    }
  }
}
