import CompositeOperations
import Foundation
import HTTPOperations
import LoopbackServer
import TestSupport
import Testing

/// Downloads that are larger than permitted.
@Suite(.timeLimit(.minutes(10))) struct DownloadLimitTests {
  private static let bytes = someBytes(1_000_000)
  private static let validator = #"ETag: "1""#

  /// - Parameter limit: Nil for none.
  private static func download(
    _ server: LoopbackServer, to file: URL, limit: Int?
  ) async throws -> Result<HTTPDownload, HTTPBodyLimitError> {
    let options = HTTPRequestOptions(downloadLimit: limit)
    let outcome = await HTTPDownloadOperation(server.url(), to: file, options: options).run()
    if let result = outcome.result { return .success(result) }
    return .failure(try #require(outcome.error as? HTTPBodyLimitError, "\(outcome)"))
  }

  enum Form: CaseIterable, Sendable {
    case announced, unannounced, compressed

    func response(_ bytes: [UInt8]) -> LoopbackResponse {
      switch self {
      case .announced: .init(body: bytes)
      case .unannounced: .init(body: bytes, length: -1)
      // The limit is for the decompressed bytes.
      case .compressed:
        .init(headers: ["Content-Encoding: gzip"], body: HTTPOperationsTests.compressed(bytes))
      }
    }
  }

  @Test(arguments: Form.allCases)
  func `N13: a download above its limit is an error that names the limit`(
    form: Form
  ) async throws {
    let folder = try TemporaryFolder()
    let zeros = [UInt8](repeating: 0, count: 1_000_000)
    let server = try LoopbackServer(form.response(zeros))
    try Data("old".utf8).write(to: folder["file"])
    guard
      case .failure(let error) = try await Self.download(
        server, to: folder["file"], limit: zeros.count - 1)
    else {
      Issue.record("downloaded")
      return
    }
    #expect(error.limit == 999_999 && !error.isRetryable)
    #expect(error.announced == (form == .announced ? 1_000_000 : nil))
    #expect("\(error)".contains("exceeds the limit of 999999 bytes. Raise the downloadLimit"))
    // Without a validator, it cannot be resumed.
    #expect(try folder.names() == ["file"])
    #expect(try Data(contentsOf: folder["file"]) == Data("old".utf8))
    for limit in [zeros.count, nil] {
      let result = try await Self.download(server, to: folder["file"], limit: limit).get()
      #expect(result.byteCount == zeros.count)
    }
  }

  @Test func `N13: a download above its limit is resumed if the limit is raised`() async throws {
    let folder = try TemporaryFolder()
    let bytes = Self.bytes
    let server = try LoopbackServer { request, connection in
      let start = request["Range"].flatMap { Int($0.dropFirst(6).dropLast()) } ?? 0
      let head = ["Content-Range: bytes \(start)-\(bytes.count - 1)/\(bytes.count)"]
      switch request.number {
      // Without a length, and with a part that stays.
      case 0:
        connection.send(.init(headers: [Self.validator], body: bytes, length: -1))
      default:
        let rest = Array(bytes[start...])
        connection.send(.init(206, headers: head + [Self.validator], body: rest))
      }
    }
    for (limit, announced) in [(400_000, nil), (400_000, 1_000_000), (999_999, 1_000_000)] {
      guard
        case .failure(let error) = try await Self.download(
          server, to: folder["file"], limit: limit)
      else {
        Issue.record("downloaded")
        return
      }
      #expect(error.announced == announced)
      #expect(try folder.names() == ["file.partial", "file.partial.json"])
      #expect(try Data(contentsOf: folder["file.partial"]).count == 400_000)
    }
    let result = try await Self.download(server, to: folder["file"], limit: bytes.count).get()
    #expect(result.byteCount == bytes.count && result.resumedByteCount == 400_000)
    #expect(try Data(contentsOf: folder["file"]) == Data(bytes))
  }
}
