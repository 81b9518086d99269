internal import CompositeOperationsFoundation
public import Foundation
internal import SystemSupport

/// A folder that keeps the last response of each GET, so that the server need not send it again.
///
/// ```swift
/// import HTTPOperations
///
/// let cache = HTTPCache(in: URL(fileURLWithPath: "/home/me/.cache/releases"))
/// let releases = HTTPDataOperation(url, cache: cache)
/// ```
///
/// The server is asked every time, with the `ETag` of the kept response, or else with its
/// `Last-Modified`. If it answers that the response is still current (304), the result is the kept
/// body, and ``HTTPDataResponse/isNotModified`` is true. A kept response is never used without that
/// answer: not within its lifetime, and not without a network.
///
/// - A response is kept if its status is 200, it was not redirected, and it has an `ETag`, or a
///   `Last-Modified` at least a second before its `Date`. If the session has interceptors or
///   keeps cookies, whose headers the cache does not see, it needs an `ETag`.
/// - Neither a response nor a request with `Cache-Control: no-store` is kept, and no response with
///   `Vary: *`. A request that has conditions of its own, such as a `Range`, does not use the cache.
/// - A response is used only for the same URL, `Authorization` and `Cookie`, and the same values
///   of the headers that its `Vary` names. One is kept for each URL and credentials.
/// - Responses to requests with credentials are kept, as RFC 9111 permits for a private cache. Use a
///   folder for each account if an interceptor, such as ``HTTPBearerToken``, or a client certificate
///   logs in.
/// - `Set-Cookie` is not kept.
///
/// Each response is a file that only your user can read. Its name is a hash, and it contains no part of
/// the request. Files that are damaged, or that other users can have written, are not used. Several
/// processes may use the folder at once. If the files exceed the limit, those that were not used for
/// the longest time are removed. Other files in the folder stay.
///
/// A folder that cannot be read or written is no error: then every response is sent by the server. The
/// folder is created if only its last name is missing.
public struct HTTPCache: Sendable, Hashable {
  /// The folder.
  public let folder: URL
  /// The maximum size of all files together, in bytes.
  public let byteLimit: Int

  /// Creates a cache. Nothing is read or written yet.
  ///
  /// - Parameters:
  ///   - folder: The folder, as a file URL.
  ///   - byteLimit: The maximum size of all files together, in bytes.
  /// - Precondition: The URL is a file URL, and the limit is not negative.
  public init(in folder: URL, byteLimit: Int = 64 << 20) {
    precondition(
      folder.pathOfFile != nil, "`folder` must be a file URL (was \(folder.withoutSecrets))")
    precondition(byteLimit >= 0, "`byteLimit` must not be negative (was \(byteLimit))")
    self.folder = folder
    self.byteLimit = byteLimit
  }
}

// MARK: Files

extension HTTPCache {
  private static let nameEnd = ".response"

  private func path(of name: String) -> String { (folder.pathOfFile ?? "").path(of: name) }

  private func path(of request: CachedRequest) -> String { path(of: request.key + Self.nameEnd) }

  /// Returns the kept response of a request, which counts as used.
  ///
  /// - Parameter bodyLimit: The maximum size of a body in bytes.
  /// - Returns: Nil if there is none that can be used.
  func response(for request: CachedRequest, bodyLimit: Int) -> CachedResponse? {
    let options: FileDescriptor.OpenOptions = [.noFollow, .nonBlocking]
    guard let file = try? FileDescriptor.open(path(of: request), .readOnly, options) else {
      return nil
    }
    defer { try? file.close() }
    guard let status = try? file.status, status.isPrivate, status.size <= byteLimit else {
      return nil
    }
    var bytes = [UInt8](repeating: 0, count: status.size)
    var span = bytes.mutableSpan
    let count = try? unsafe span.withUnsafeMutableBytes { bytes throws(SystemError) in
      try unsafe file.read(into: bytes, at: 0)
    }
    guard count == status.size, let response = CachedResponse(bytes, of: request),
      response.body.count <= bodyLimit
    else { return nil }
    _ = futimens(file.rawValue, nil)
    return response
  }

  /// Keeps a response, and removes the previous one. A failure is no error.
  ///
  /// - Parameter response: Nil if it must not be kept.
  func replace(_ response: CachedResponse?, of request: CachedRequest) {
    let path = path(of: request)
    guard let bytes = response?.bytes, bytes.count <= byteLimit else { return remove(path) }
    let folder = folder.pathOfFile ?? ""
    if FileSystem.isMissing(folder) { try? OpenFolder.working.makeFolder(FileName(folder)) }
    let temporary = ReplacementFile.name(beside: path)
    do {
      let file = try FileDescriptor.open(
        temporary, .writeOnly, .exclusiveCreate, permissions: 0o600)
      defer { try? file.close() }
      try file.write(bytes, brokenPipe: .error)
      try FileSystem.rename(temporary, to: path)
    } catch {
      remove(temporary)
      // The previous one is out of date.
      remove(path)
    }
    removeLeastRecentlyUsed()
  }

  /// Removes files until the others are within the limit, also unfinished ones of ended processes.
  private func removeLeastRecentlyUsed() {
    guard let folder = try? OpenFolder(folder.pathOfFile ?? "", followingLink: true) else { return }
    defer { folder.close() }
    guard let names = try? folder.names({}) else { return }
    var files = names.filter { Self.isOwn($0.text) }.compactMap { name in
      (try? folder.status(of: name)).map { (name: name, status: $0) }
    }
    files.sort { $0.status.modified.nanosecondsSince1970 > $1.status.modified.nanosecondsSince1970 }
    var size = 0
    for (name, status) in files {
      size += status.size
      if size > byteLimit { try? folder.removeFile(name) }
    }
  }

  /// Whether a file is a kept response, or an unfinished one.
  private static func isOwn(_ name: String) -> Bool {
    let isUnfinished = name.hasPrefix(".")
    let name = isUnfinished ? name.dropFirst() : name[...]
    let end = name.dropFirst(64)
    return name.prefix(64).allSatisfy { $0.isHexDigit }
      && (isUnfinished ? end.hasPrefix(nameEnd + ".") : end == nameEnd)
  }

  private func remove(_ path: String) { try? OpenFolder.working.removeFile(FileName(path)) }
}

extension FileTime {
  fileprivate var nanosecondsSince1970: Int64 { seconds &* 1_000_000_000 &+ nanoseconds }
}
