#if !canImport(Darwin)
  /// A proxy that requests are sent through, for errors.
  struct CurlProxy {
    /// The host and the port, without the user and the password.
    let address: String
    /// Whether it connects with SOCKS, and not with the method CONNECT.
    let isSOCKS: Bool

    /// - Parameter url: The URL of the proxy. Its scheme may be missing.
    init(_ url: String) {
      let parts = url.split(separator: "://", maxSplits: 1)
      isSOCKS = parts.count == 2 && parts[0].lowercased().hasPrefix("socks")
      // A password may contain any character, so its end is the last one that separates it.
      let host = (parts.last ?? "").split(separator: "@").last ?? ""
      address = String(host.prefix { !"/?#".contains($0) })
    }

    /// The proxy that a variable of the environment sets, as libcurl reports it.
    ///
    /// - Parameter message: A message of libcurl; tested with 7.88.
    /// - Returns: Nil for other messages.
    init?(message: UnsafeRawBufferPointer) {
      let begin = "Uses proxy env variable "
      guard unsafe message.starts(with: begin.utf8) else { return nil }
      let text = unsafe String(decoding: message, as: UTF8.self)
      guard let url = text.firstRange(of: " == '"), let end = text.lastIndex(of: "'"),
        url.upperBound < end
      else { return nil }
      self.init(String(text[url.upperBound..<end]))
    }
  }
#endif
