public import CompositeOperations
internal import CompositeOperationsFoundation
public import Foundation
internal import SystemSupport

#if canImport(FoundationNetworking)
  public import FoundationNetworking
#endif

/// An operation that downloads a file over HTTP.
///
/// ```swift
/// import HTTPOperations
///
/// let download = HTTPDownloadOperation(url, to: URL(fileURLWithPath: path)).retryingHTTP()
/// ```
///
/// The body is written to `NAME.partial` beside the destination as it arrives. When it is complete
/// and on disk (`fsync`), it is renamed to the destination and replaces an existing file
/// atomically, so an incomplete file is never visible there. A symbolic link of that name is
/// replaced. The new file gets the owner, the group and the permissions of the file that it
/// replaces, as far as the system allows that, but never setuid or setgid. A device or a pipe is
/// written directly: a pipe must have a reader, and once bytes have been written, no error is
/// retryable.
///
/// If the download is interrupted, by an error, a cancellation or the end of the program, the next
/// run of the same user resumes it, in any process. `NAME.partial.json` has the validators of the
/// file on the server (its `ETag` and its modification date), and `Range` and `If-Range` request
/// the rest. The rest must have the same `ETag`, or the same date if there was no `ETag`. If the
/// file has changed, if the validator is missing, or if the server does not support ranges, the
/// download starts again. If the server sends no validator, the partial file is removed. The
/// partial file is not always on disk: after a power failure, remove it. A file of that name that
/// other users can have written is not resumed.
///
/// A URL that changes, such as one with a signature, needs a key of the resource:
///
/// ```swift
/// import HTTPOperations
///
/// let release = HTTPDownloadOperation(
///   url, to: URL(fileURLWithPath: path), resumeKey: "releases/4.2/image.iso")
/// ```
///
/// If the SHA-256 of the file is known, such as from the page of its download, the file is accepted
/// only with that:
///
/// ```swift
/// import HTTPOperations
///
/// let checked = HTTPDownloadOperation(
///   url, to: URL(fileURLWithPath: path),
///   sha256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08")
/// ```
///
/// It is the hash of the bytes that are on disk. In a resumed download, these include the bytes of
/// earlier processes, which are read again. A compressed body is decompressed before. If the hash
/// is different, the partial file is removed and the destination is unchanged. A device or a pipe
/// has been written then. A resumed download with another hash first starts again, once, from the
/// first byte, because the earlier part may be damaged.
///
/// The file is requested uncompressed. If the server compresses it nevertheless
/// (`Content-Encoding`), it is decompressed, and the download cannot be resumed.
///
/// The run reports its progress in bytes, including the resumed ones. The file is written on a
/// thread of its own. If a disk or a pipe is slower than the server, the server has to wait, and no
/// other request. A cancellation ends the request at once; the run ends when the bytes that are
/// being written are written.
///
/// All of its errors, except those of an ``HTTPInterceptor`` of the session, conform to
/// ``HTTPRequestError``:
///
/// - ``HTTPFileError``: the file cannot be written, another download is writing it, or it has
///   another hash than the expected one. No other attempt is made after it.
/// - ``HTTPStatusError``: the server refused the request, or redirected it and redirects are not
///   followed.
/// - ``HTTPTransferError``: there was no response, or only a part of one.
/// - ``HTTPBodyLimitError``: the file is larger than the `downloadLimit` of the options.
/// - ``HTTPRedirectError``: a redirect is invalid, or there are too many.
public struct HTTPDownloadOperation: ComposableOperation {
  private let request: URLRequest
  private let destination: URL
  private let options: HTTPRequestOptions
  private let session: HTTPSession
  private let summary: HTTPRequestSummary
  private let resumeKey: String?
  private let sha256: String?

  /// Creates an operation that downloads the response of a request.
  ///
  /// - Parameters:
  ///   - request: The request, usually a GET. The operation sets its headers `Range`, `If-Range`
  ///     and `Accept-Encoding`.
  ///   - destination: The file to write, as a file URL. Its folder must exist. The run ends in an
  ///     ``HTTPFileError`` otherwise.
  ///   - options: The options of the request.
  ///   - session: The session that sends the request.
  ///   - resumeKey: What identifies the resource if its URL changes, such as a URL with a
  ///     signature; nil for the whole URL. A download with the same key, to the same destination,
  ///     is resumed.
  ///   - sha256: The SHA-256 that the file must have, in 64 hexadecimal digits of any case; nil to
  ///     accept every file. The run ends in an ``HTTPFileError`` if the file has another one, or if
  ///     this is no SHA-256.
  public init(
    _ request: URLRequest, to destination: URL, options: HTTPRequestOptions = HTTPRequestOptions(),
    session: HTTPSession = .shared, resumeKey: String? = nil, sha256: String? = nil
  ) {
    self.request = request
    self.destination = destination
    self.options = options
    self.session = session
    self.resumeKey = resumeKey
    self.sha256 = sha256
    summary = HTTPRequestSummary(request, isRepeatable: options.isRepeatable)
  }

  /// Creates an operation that downloads a URL.
  ///
  /// - Parameters:
  ///   - url: The URL to download.
  ///   - destination: The file to write, as a file URL. Its folder must exist. The run ends in an
  ///     ``HTTPFileError`` otherwise.
  ///   - options: The options of the request.
  ///   - session: The session that sends the request.
  ///   - resumeKey: What identifies the resource if its URL changes, such as a URL with a
  ///     signature; nil for the whole URL. A download with the same key, to the same destination,
  ///     is resumed.
  ///   - sha256: The SHA-256 that the file must have, in 64 hexadecimal digits of any case; nil to
  ///     accept every file. The run ends in an ``HTTPFileError`` if the file has another one, or if
  ///     this is no SHA-256.
  public init(
    _ url: URL, to destination: URL, options: HTTPRequestOptions = HTTPRequestOptions(),
    session: HTTPSession = .shared, resumeKey: String? = nil, sha256: String? = nil
  ) {
    self.init(
      URLRequest(url: url), to: destination, options: options, session: session,
      resumeKey: resumeKey, sha256: sha256)
  }

  /// The method and the URL of the request, without secrets.
  public var operationName: String { "download \(summary)" }

  /// Downloads the file.
  ///
  /// - Throws: An ``HTTPRequestError``, the error of an interceptor, and `CancellationError` if the
  ///   run is cancelled.
  public func perform(in context: OperationContext) async throws -> HTTPDownload {
    do {
      guard let path = destination.pathOfFile else {
        throw FileError(
          destination.withoutSecrets, "cannot be written",
          because: "it is not a file URL. Use a URL that begins with file:///.")
      }
      let hash = try DownloadHash(sha256, ofFile: path)
      let file = try await HTTPThreads.files.run { try PartialFile(at: path, hash: hash) }
      return try await download(to: file, in: context)
    } catch let error as FileError {
      throw HTTPFileError(error, of: summary)
    }
  }

  private var resource: DownloadRecord.Resource {
    DownloadRecord.Resource(url: request.url ?? destination, key: resumeKey)
  }

  private func download(
    to file: PartialFile, in context: OperationContext
  ) async throws -> HTTPDownload {
    var download: HTTPDownload
    do {
      let plan = await HTTPThreads.files.run { file.plan(for: resource) }
      if sha256 != nil { try await addToHash(plan.offset, of: file) }
      do {
        download = try await self.download(plan, to: file, in: context)
      } catch is RestartRequired {
        // The partial file stays until another body arrives.
        download = try await self.download(.whole, to: file, in: context)
      }
      if download.resumedByteCount > 0, !file.hasExpectedHash {
        // The resumed part may be damaged. It is removed first, so that it is not resumed again.
        try await HTTPThreads.files.run { try file.restart(nil) }
        download = try await self.download(.whole, to: file, in: context)
      }
      try Task.checkCancellation()
    } catch {
      await HTTPThreads.files.run { file.abandon() }
      throw error
    }
    try await HTTPThreads.files.run { try file.finish() }
    return download
  }

  /// Adds the bytes of the existing part to the hash, before the request: a server does not wait
  /// for that.
  private func addToHash(_ count: Int, of file: PartialFile) async throws {
    for start in stride(from: 0, to: count, by: FileDescriptor.blockSize) {
      try Task.checkCancellation()
      let end = min(count, start + FileDescriptor.blockSize)
      try await HTTPThreads.files.run { try file.addToHash(start..<end) }
    }
  }

  private func download(
    _ plan: DownloadPlan, to file: PartialFile, in context: OperationContext
  ) async throws -> HTTPDownload {
    var request = plan.request(request)
    let body = try HTTPRequestBody(takenFrom: &request, of: summary)
    do {
      return try await session.perform(
        request, body: body, summary: summary, options: options, expectsLargeBody: true,
        in: context
      ) { head, reader in
        let (offset, total) = try await begin(file, plan, head)
        let count = try await write(
          reader, to: file, from: offset, total, TransferProgress(context))
        return HTTPDownload(
          file: destination, byteCount: count, resumedByteCount: offset, head: head)
      }
    } catch let error as HTTPStatusError {
      switch plan.decision(on: error.head) {
      case .complete:
        try checkSize(plan.offset, isAnnounced: true)
        return HTTPDownload(
          file: destination, byteCount: plan.offset, resumedByteCount: plan.offset,
          head: error.head)
      case .requestWhole: throw RestartRequired()
      case .append, .restart, .fail: throw error
      }
    }
  }

  /// The response cannot be used, and the whole has to be requested.
  private struct RestartRequired: Error {}

  /// Prepares the file for the body of a response.
  ///
  /// - Returns: Where it begins in the file, and the length of the whole in bytes; nil if that is
  ///   unknown.
  private func begin(
    _ file: PartialFile, _ plan: DownloadPlan, _ head: HTTPResponseHead
  ) async throws -> (offset: Int, total: Int?) {
    let decision = plan.decision(on: head)
    switch decision {
    case .append(let total?), .restart(let total?):
      if summary.method != "HEAD" { try checkSize(total, isAnnounced: true) }
    default: break
    }
    switch decision {
    case .append(let total):
      try await HTTPThreads.files.run { try file.seek(to: plan.offset) }
      return (plan.offset, total)
    case .restart(let total):
      let record = DownloadRecord(of: resource, head, total: total)
      try await HTTPThreads.files.run { try file.restart(record) }
      return (0, total)
    case .requestWhole: throw RestartRequired()
    case .complete, .fail: throw HTTPStatusError(request: summary, head: head, body: Data())
    }
  }

  /// - Throws: An error if the file is larger than the options permit. The partial file stays, as
  ///   after other errors.
  private func checkSize(_ byteCount: Int, isAnnounced: Bool) throws(HTTPBodyLimitError) {
    guard let limit = options.downloadLimit, byteCount > limit else { return }
    throw HTTPBodyLimitError(
      request: summary, limit: limit, announced: isAnnounced ? byteCount : nil,
      isOfDownload: true)
  }

  /// - Returns: The size of the whole file in bytes.
  private func write(
    _ reader: HTTPBodyReader, to file: PartialFile, from offset: Int, _ total: Int?,
    _ progress: TransferProgress
  ) async throws -> Int {
    var count = offset
    do {
      while let bytes = try await reader.next() {
        let exchange = reader.exchange
        let rest = max(0, (options.downloadLimit ?? .max) - count)
        let permitted = bytes.count > rest ? Array(bytes[..<rest]) : bytes
        try await HTTPThreads.files.run { try file.write(permitted) { exchange.isCancelled } }
        try checkSize(count + bytes.count, isAnnounced: false)
        count += bytes.count
        progress.report(count, of: total)
      }
      if let total, count != total, summary.method != "HEAD" {
        throw HTTPTransferError(
          HTTPTransportError(.incompleteBody(received: count, expected: total)), of: summary,
          after: reader.head)
      }
    } catch let error as HTTPTransferError where file.isDirect && count > 0 {
      // Bytes that were written to a device or a pipe would be written again.
      throw HTTPTransferError(
        HTTPTransportError(error.reason, error.message), of: error.request.unrepeatable,
        after: error.head)
    }
    return count
  }
}

extension HTTPDownloadOperation: CustomReflectable {
  /// The name, because the request may have secrets.
  public var customMirror: Mirror { Mirror(naming: self) }
}

/// A downloaded file.
public struct HTTPDownload: Sendable, Hashable {
  /// The URL of the file.
  public let file: URL
  /// The size of the file in bytes; for a device or a pipe, how many bytes were written.
  public let byteCount: Int
  /// How many of them came from an earlier, interrupted download.
  public let resumedByteCount: Int
  /// The head of the last response.
  public let head: HTTPResponseHead
}
