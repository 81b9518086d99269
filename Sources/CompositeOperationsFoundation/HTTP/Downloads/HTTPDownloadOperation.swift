public import CompositeOperations
public import Foundation

#if canImport(FoundationNetworking)
  public import FoundationNetworking
#endif

/// Downloads a file over HTTP.
///
/// ```swift
/// import CompositeOperationsFoundation
///
/// let download = HTTPDownloadOperation(url, to: URL(fileURLWithPath: path)).retryingHTTP()
/// ```
///
/// The body is written to `NAME.partial` beside the destination as it comes. When it is whole and has reached
/// the disk (`fsync`), it gets the name of the destination in place of what had it, at once: nobody sees half a file.
/// A symbolic link of that name is replaced; a file that is replaced leaves its owner, its
/// group and its rights to the new one as far as the system allows that, but none to be run as them. A device or
/// a pipe is written to as it is: a pipe needs somebody who reads it, and where something has gone there, no error
/// is worth another attempt.
///
/// Where that ends early, by an error, a cancellation or the end of the program, the next run goes on from
/// there, in whatever process: `NAME.partial.json` says by what the server knows the thing (its `ETag`, or when it was
/// last modified), and `Range` and `If-Range` ask for the rest. Where it has changed, or the server cannot give
/// parts, the download starts anew. What the server gives no way to recognise is removed. The part itself has
/// not always reached the disk: after a failure of the power, remove it.
///
/// The server is asked for the thing as it is. Where it packs it all the same (`Content-Encoding`), what is written is
/// unpacked, and cannot be gone on with.
///
/// How much has come is told as progress, in bytes, with what was there before. It is written on a thread of its
/// own; a disk or a pipe that is slower than the server holds it up when 8 MiB wait, and on Linux all other requests
/// of the process with it. A cancellation ends the request at once, and the run when the disk has
/// taken what is being written.
///
/// Its errors, all of them an ``HTTPRequestError``:
///
/// - ``HTTPFileError``: the file cannot be written, or another download writes it.
/// - ``HTTPStatusError``: the server says no, or sends the request elsewhere and redirects are not followed.
/// - ``HTTPTransferError``: there was no answer, or not all of it.
/// - ``HTTPRedirectError``: the server sends the request round in circles.
public struct HTTPDownloadOperation: ComposableOperation {
  private let request: URLRequest
  private let destination: URL
  private let options: HTTPRequestOptions
  private let session: HTTPSession
  private let summary: HTTPRequestSummary

  /// - Parameters:
  ///   - request: What to ask for, mostly by GET. Its headers `Range`, `If-Range` and `Accept-Encoding` are the
  ///     operation's.
  ///   - destination: The file to be written. Its folder has to be there.
  ///   - options: How it is asked, where that is not as usual.
  ///   - session: What it is asked as: another one of the same configuration does, because what takes long would
  ///     keep its connections from others.
  /// - Precondition: The destination is a file URL.
  public init(
    _ request: URLRequest, to destination: URL, options: HTTPRequestOptions = HTTPRequestOptions(),
    session: HTTPSession = .shared
  ) {
    self.request = request
    self.destination = destination
    self.options = options
    self.session = session
    summary = HTTPRequestSummary(request, isRepeatable: options.isRepeatable)
  }

  /// Downloads what is at an address.
  ///
  /// - Parameters:
  ///   - url: The address.
  ///   - destination: The file to be written. Its folder has to be there.
  ///   - options: How it is asked, where that is not as usual.
  ///   - session: What it is asked as.
  /// - Precondition: The destination is a file URL.
  public init(
    _ url: URL, to destination: URL, options: HTTPRequestOptions = HTTPRequestOptions(),
    session: HTTPSession = .shared
  ) {
    self.init(URLRequest(url: url), to: destination, options: options, session: session)
  }

  public var operationName: String { "download \(summary)" }

  public func perform(in context: OperationContext) async throws -> HTTPDownload {
    do {
      guard let path = destination.pathOfFile else {
        throw FileError(
          destination.withoutSecrets, "cannot be written",
          because: "it is not a file URL. Use a URL that begins with file:///.")
      }
      let file = try await HTTPThreads.files.run { try PartialFile(at: path) }
      return try await download(to: file, in: context)
    } catch let error as FileError {
      throw HTTPFileError(error, of: summary)
    }
  }

  private func download(
    to file: PartialFile, in context: OperationContext
  ) async throws -> HTTPDownload {
    let download: HTTPDownload
    do {
      let url = request.url ?? destination
      let plan = await HTTPThreads.files.run { file.plan(for: url) }
      do {
        download = try await self.download(plan, to: file, in: context)
      } catch is DownloadSink.WholeNeeded {
        // What there is stays until something else comes.
        download = try await self.download(.whole, to: file, in: context)
      }
      try Task.checkCancellation()
    } catch {
      await HTTPThreads.files.run { file.leave() }
      throw error
    }
    try await HTTPThreads.files.run { try file.finish() }
    return download
  }

  private func download(
    _ plan: DownloadPlan, to file: PartialFile, in context: OperationContext
  ) async throws -> HTTPDownload {
    let sink = DownloadSink(
      to: file, plan: plan, url: request.url ?? destination, request: summary,
      progress: TransferProgress(context))
    do {
      let head = try await head(of: plan.request(request), into: sink)
      if let total = sink.total, sink.count != total, summary.method != "HEAD" {
        throw HTTPTransferError(
          request: summary, reason: .incompleteBody(received: sink.count, expected: total),
          message: "")
      }
      let resumed = head.status == 206 ? plan.offset : 0
      return HTTPDownload(
        file: destination, byteCount: sink.count, resumedByteCount: resumed, head: head)
    } catch let error as HTTPStatusError {
      switch plan.decision(on: error.head) {
      case .complete:
        return HTTPDownload(
          file: destination, byteCount: plan.offset, resumedByteCount: plan.offset,
          head: error.head)
      case .askForWhole: throw DownloadSink.WholeNeeded()
      case .append, .startAnew, .fail: throw error
      }
    } catch let error as HTTPTransferError where file.isDirect && sink.count > 0 {
      // What has gone to a device or a pipe would go there again.
      throw HTTPTransferError(
        request: error.request.unrepeatable, reason: error.reason, message: error.message)
    }
  }

  /// Has the sink write what comes, and gives the last response when it has.
  private func head(
    of request: URLRequest, into sink: DownloadSink
  ) async throws -> HTTPResponseHead {
    var asked = request
    let body = try HTTPRequestBody(takenFrom: &asked, of: summary)
    let request = asked
    return try await withTaskCancellationHandler {
      do {
        let head = try await session.separate().perform(
          request, body: body, summary: summary, options: options, into: sink)
        try await sink.finish()
        return head
      } catch {
        // Nothing may be written when the file is closed.
        try await sink.finish()
        throw error
      }
    } onCancel: {
      sink.stop()
    }
  }
}
