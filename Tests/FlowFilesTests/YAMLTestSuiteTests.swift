import FlowFiles
import Foundation
import Testing

/// The cases of yaml-test-suite, from github.com/yaml/yaml-test-suite. None of them is a flow file.
///
/// `Tests/YAMLTestSuite/cases.jsonl` has a line for each `in.yaml` of the branch `data`, commit
/// `6ad3d2c6`. JSON keeps tabs, carriage returns and missing line ends visible.
@Suite(.needsYAML, .timeLimit(.minutes(10)))
struct YAMLTestSuiteTests {
  struct Case: Decodable {
    let `case`: String
    let title: String
    /// Whether it is YAML. The others have a mistake, which libyaml does not always find.
    let valid: Bool
    let yaml: String
  }

  private static let cases: [Case] = {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../YAMLTestSuite/cases.jsonl").standardizedFileURL
    guard let data = try? Data(contentsOf: file) else { return [] }
    return data.split(separator: UInt8(ascii: "\n")).compactMap {
      try? JSONDecoder().decode(Case.self, from: $0)
    }
  }()

  @Test func `all cases of yaml-test-suite are there`() {
    #expect(Self.cases.count == 402)
    #expect(Self.cases.count { $0.valid } == 308)
  }

  @Test func `each case of yaml-test-suite has problems with line and column`() {
    for item in Self.cases {
      let bytes = Array(item.yaml.utf8)
      // A missing key has the position of the end, which is a line of its own.
      let lines = bytes.count { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") } + 2
      do throws(FlowFileError) {
        _ = try FlowFile(parsing: bytes, path: "flow.yaml", format: .yaml)
        Issue.record("\(item.case), \(item.title), is a flow file")
      } catch {
        let isComplete = error.problems.allSatisfy { problem in
          guard let location = problem.location else { return false }
          return (1...lines).contains(location.line) && location.column >= 1
            && !problem.message.isEmpty
        }
        #expect(isComplete && !error.problems.isEmpty, "\(item.case), \(item.title): \(error)")
      }
    }
  }
}
