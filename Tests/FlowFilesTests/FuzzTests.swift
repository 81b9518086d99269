import FlowFiles
import Foundation
import Testing

/// Files that are changed at random. `COMPOSITE_TEST_DEPTH=full` reads ten times as many.
@Suite(.timeLimit(.minutes(10)))
struct FuzzTests {
  private static let count =
    ProcessInfo.processInfo.environment["COMPOSITE_TEST_DEPTH"] == "full" ? 30_000 : 3_000

  private static let fragments = [
    "", "\n", "\t", " ", "  ", ":", ": ", "- ", "? ", "[", "]", "{", "}", ",", "&a ", "*a", "!t ",
    "|", ">", "'", "\"", "#", "%", "@", "`", "\\", "---\n", "...\n", "<<: ", "${each}", "${", "$",
    "~", "null", "\u{feff}", "\u{85}", "\u{2028}", "é", "\u{1F680}", "\0", "steps: ", "run: ",
    "needs: ", "each: ", "{lines-of: a}", "99999999999999999999", "-1", "\r\n", "\"\\u0000\"",
  ].map { Array($0.utf8) }

  @Test(arguments: [FlowFileFormat.yaml, .json])
  func `changed files are read or have problems with positions`(format: FlowFileFormat) {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SplitMix(state: seed)
    let examples = FlowExamples.all.values.sorted().map { Array($0.utf8) }
    var readable = 0
    for number in 0..<Self.count {
      var bytes = examples[Int(random.next() % UInt64(examples.count))]
      for _ in 0...random.next() % 4 { bytes.mutate(Self.fragments, &random) }
      do throws(FlowFileError) {
        let file = try FlowFile(parsing: bytes, path: "flow.yaml", format: format)
        readable += 1
        let isOrder = Set(file.order) == Set(file.steps.indices)
        #expect(isOrder, "file \(number) of seed \(seed)")
      } catch {
        let lines = bytes.count { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") } + 100
        let isComplete = error.problems.allSatisfy { problem in
          guard let location = problem.location else { return false }
          return location.line >= 1 && location.line <= lines && location.column >= 1
            && !problem.message.isEmpty
        }
        #expect(isComplete && !error.problems.isEmpty, "file \(number) of seed \(seed): \(error)")
      }
    }
    // The examples are YAML, and most changes of one byte of a comment or a text are harmless.
    if format == .yaml, hasYAML {
      #expect(readable > 0 && readable < Self.count, "seed \(seed)")
    }
  }
}

/// The generator of Steele, Lea and Flood (SplitMix64).
struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
    return mixed ^ mixed >> 31
  }
}

extension [UInt8] {
  fileprivate mutating func mutate(_ fragments: [[UInt8]], _ random: inout SplitMix) {
    let index = Int(random.next() % UInt64(count + 1))
    let length = Swift.min(Int(random.next() % 20), count - index)
    switch random.next() % 5 {
    case 0 where index < count: self[index] = UInt8(truncatingIfNeeded: random.next())
    case 1: removeSubrange(index..<index + length)
    case 2:
      let part = Array(self[index..<index + length])
      insert(contentsOf: part, at: Int(random.next() % UInt64(count + 1)))
    case 3: removeSubrange(index...)
    default:
      insert(contentsOf: fragments[Int(random.next() % UInt64(fragments.count))], at: index)
    }
  }
}
