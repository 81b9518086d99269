import CompositeOperations
import Foundation
import HTTPOperations
import LoopbackServer
import TestSupport
import Testing

/// A process that has too many open files. In a child process, because the limit belongs to all tests.
@Suite(.timeLimit(.minutes(10))) struct FileLimitTests {
  @Test func `N9: too many open files are named wherever a connection needs another one`()
    async throws
  {
    let server = try LoopbackServer(.init("answer"))
    await #expect(processExitsWith: .success) { [port = server.port as UInt16] in
      let secure = HTTPSession()
      // A lookup, sockets, and the files of certificates.
      for scheme in ["http", "https"] {
        let url = try #require(URL(string: "\(scheme)://localhost:\(port)/"))
        var lackCount = 0
        for freeCount in 0..<12 {
          let outcome = await OpenFiles.lacking(allBut: freeCount) {
            let session = freeCount % 2 == 0 ? HTTPSession() : secure
            return await HTTPDataOperation(url, session: session).run()
          }
          guard let error = outcome.error as? HTTPTransferError else { continue }
          if error.reason != .tooManyOpenFiles {
            // There were enough of them.
            let isExpected = [.notSecure, .connectionLost].contains(error.reason)
            #expect(scheme == "https" && isExpected, "\(freeCount): \(error)")
            continue
          }
          lackCount += 1
          #expect("\(error)".contains("failed: too many open files"), "\(error)")
          #expect("\(error)".contains("raise the limit of the process (ulimit -n)"))
          #expect(error.isRetryable && !error.wasSent)
        }
        #expect(lackCount > 1)
      }
    }
  }

  @Test func `N9: too many open files are named for the file of an upload or a download`()
    async throws
  {
    let folder = try TemporaryFolder()
    let server = try LoopbackServer(.init("answer"))
    try Data("x".utf8).write(to: folder["file"])
    // A partial file that exists.
    try Data().write(to: folder["old.partial"])
    await #expect(processExitsWith: .success) {
      [url = server.url() as URL, file = folder["file"] as URL, old = folder["old"] as URL] in
      let new = old.appendingPathExtension("new")
      let operations = [
        AnyOperation(HTTPUploadOperation(url, from: .file(file)).map { _ in }),
        AnyOperation(HTTPDownloadOperation(url, to: new).map { _ in }),
        AnyOperation(HTTPDownloadOperation(url, to: old).map { _ in }),
      ]
      for operation in operations {
        let outcome = await OpenFiles.lacking(allBut: 0) { await operation.run() }
        let error = try #require(outcome.error as? HTTPFileError, "\(outcome)")
        #expect(error.code == EMFILE)
        #expect("\(error)".contains("Too many files are open: close some of them first."))
      }
    }
  }
}

/// Uses up the files that a process may open.
private enum OpenFiles {
  /// - Parameter freeCount: How many files can still be opened.
  static func lacking<Value>(
    allBut freeCount: Int, _ body: () async -> Value
  ) async -> Value {
    // Dispatch opens files for its timers, and ends the process if it cannot.
    await withCheckedContinuation { continuation in
      DispatchQueue.global().asyncAfter(deadline: .now() + .nanoseconds(1)) {
        continuation.resume()
      }
    }
    var limit = rlimit(rlim_cur: 256, rlim_max: 256)
    #if canImport(Glibc)
      _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    #else
      _ = unsafe setrlimit(RLIMIT_NOFILE, &limit)
    #endif
    var files: [Int32] = []
    while true {
      let file = dup(2)
      if file < 0 { break }
      files.append(file)
    }
    for file in files.suffix(freeCount) { close(file) }
    let value = await body()
    for file in files.dropLast(freeCount) { close(file) }
    return value
  }
}
