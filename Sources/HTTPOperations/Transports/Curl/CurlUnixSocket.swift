#if !canImport(Darwin)
  internal import CCurl
  internal import Foundation
  internal import SystemSupport

  /// A Unix socket that requests are sent to.
  struct CurlUnixSocket {
    let path: String

    /// The longest path of an address in bytes, without the zero byte at its end.
    private static let pathLimit = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1

    /// Why requests cannot be sent to it; nil if they can.
    var problem: String? {
      let count = path.utf8.count
      let name = "the path of the Unix socket \(path.debugDescription)"
      if path.isEmpty { return "\(name) is empty" }
      if path.utf8.contains(0) { return "\(name) has a zero byte" }
      if count > Self.pathLimit {
        return "\(name) has \(count) bytes, and may have at most \(Self.pathLimit): use a "
          + "shorter one, or a link to its folder"
      }
      return CurlSettings.supports(CURL_VERSION_UNIX_SOCKETS)
        ? nil : "libcurl was built without Unix sockets"
    }

    /// The error of a connection that could not be made.
    ///
    /// - Parameter code: The `errno` of libcurl. It is 0 if the queue of the server is full,
    ///   because libcurl then waits for a connection that has not begun.
    func error(_ code: Int32) -> HTTPTransportError {
      let code = code == 0 ? EAGAIN : code
      var problem = "\(SystemError(code: code))"
      let advice: String
      switch code {
      case ENOENT: advice = "Check the path, and that the server is running."
      case ECONNREFUSED where !isSocket:
        problem = "it is not a socket"
        advice = "Use the path of a socket."
      case ECONNREFUSED: advice = "Start the server that listens on it."
      case EACCES:
        advice = "Run this program as a user who may write to it and search its folders."
      case EAGAIN:
        problem = "the queue of its server is full"
        advice = "Try again, or lower the connectionsPerHost of the session."
      default: advice = "Check the path."
      }
      return HTTPTransportError(
        .cannotConnect, "the Unix socket \(path): \(problem)", wasSent: false, advice: advice)
    }

    private var isSocket: Bool {
      var status = stat()
      return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
    }
  }
#endif
