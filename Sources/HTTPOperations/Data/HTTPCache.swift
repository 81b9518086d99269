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
/// answer: not within its lifetime, and not without a network. A 304 with another `ETag` or
/// `Last-Modified` is about another response, and so is one without the same `Last-Modified` if no
/// `ETag` is kept. Then the request is sent again, without a condition.
///
/// - A response is kept if its status is 200, it was not redirected, and it has one valid `ETag`,
///   or no `ETag` and a `Last-Modified` at least a second before its `Date`. It needs an `ETag` if
///   the session has interceptors, keeps cookies or has a client certificate, because the cache
///   does not see their credentials.
/// - A response with `Cache-Control: no-store` or `Vary: *` is not kept. A 304 with `no-store`
///   removes the kept response, which is still the result.
/// - A request with `Cache-Control: no-store`, or with conditions of its own, such as a `Range`,
///   does not use the cache. Headers of the request and the session count, and those that an
///   interceptor adds do not: the response to its `no-store` is kept.
/// - A response is used only for the same URL, Unix socket, `Host`, `Authorization` and `Cookie`,
///   and the same values of the headers that its `Vary` names. Without an `ETag`, all headers of
///   the request must be the same. One response is kept for each URL, Unix socket and `Host`.
/// - Responses to requests with credentials are kept, as RFC 9111 permits for a private cache. Use
///   a folder for each account if an interceptor, such as ``HTTPBearerToken``, a cookie that the
///   session keeps, or a client certificate logs in.
/// - `Set-Cookie` is not kept.
///
/// The folder must belong to your user, and no other user may have any access to it (0700).
/// Otherwise a run with the cache ends in an ``HTTPFileError`` before its request. It is created so
/// if only its last name is missing.
///
/// Each response is a file that only your user can read. Its name is a hash of the URL without its
/// user and password, the Unix socket and the `Host`. It contains no part of the request, only a
/// hash with a random salt of the credentials and headers. Files that are damaged, or that other
/// users can have written, are not used. Several processes may use the folder at once. If the files
/// exceed the limit, those that were not used for the longest time are removed. Other files in the
/// folder stay.
///
/// A folder that cannot be read or written is no error: then every response is sent by the server.
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

  private static func name(of request: CachedRequest) -> String { request.key + nameEnd }

  /// Opens the folder.
  ///
  /// - Parameter isCreated: Whether it is created if it is missing.
  /// - Returns: Nil if it cannot be opened.
  /// - Throws: A ``FileError`` if other users can have access to it.
  private func openedFolder(creating isCreated: Bool = false) throws(FileError) -> OpenFolder? {
    let path = folder.pathOfFile ?? ""
    if isCreated, FileSystem.isMissing(path) {
      try? OpenFolder.working.makeFolder(FileName(path))
    }
    guard let folder = try? OpenFolder(path, followingLink: true) else { return nil }
    let status = try? folder.descriptor.status
    if let status, status.owner == geteuid(), status.permissions.isDisjoint(with: 0o077) {
      return folder
    }
    folder.close()
    guard let status else { return nil }
    throw FileError(
      path, "cannot be used as a cache",
      because: status.owner == geteuid()
        ? "other users have access to the folder. Run `chmod 700` on it, or use another folder."
        : "the folder belongs to another user. Use a folder of your own.")
  }

  /// Returns the kept response of a request, which counts as used.
  ///
  /// - Parameter bodyLimit: The maximum size of a body in bytes.
  /// - Returns: Nil if there is none that can be used.
  /// - Throws: A ``FileError`` if other users can have access to the folder.
  func response(
    for request: CachedRequest, bodyLimit: Int
  ) throws(FileError) -> CachedResponse? {
    guard let folder = try openedFolder() else { return nil }
    defer { folder.close() }
    let name = FileName(Self.name(of: request))
    guard let file = try? folder.open(name, .readOnly, [.noFollow, .nonBlocking]) else {
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
    let bytes = response?.bytes.flatMap { $0.count <= byteLimit ? $0 : nil }
    guard let folder = try? openedFolder(creating: bytes != nil) else { return }
    defer { folder.close() }
    let name = FileName(Self.name(of: request))
    guard let bytes else {
      try? folder.removeFile(name)
      return
    }
    let temporary = FileName(ReplacementFile.name(beside: name.text))
    do {
      let file = try folder.open(temporary, .writeOnly, .exclusiveCreate, permissions: 0o600)
      defer { try? file.close() }
      try file.write(bytes, brokenPipe: .error)
      try folder.rename(temporary, to: name)
    } catch {
      try? folder.removeFile(temporary)
      // The previous one is out of date.
      try? folder.removeFile(name)
    }
    removeLeastRecentlyUsed(in: folder)
  }

  /// Removes files until the others are within the limit, also unfinished ones of ended processes.
  private func removeLeastRecentlyUsed(in folder: OpenFolder) {
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
}

extension FileTime {
  fileprivate var nanosecondsSince1970: Int64 { seconds &* 1_000_000_000 &+ nanoseconds }
}
