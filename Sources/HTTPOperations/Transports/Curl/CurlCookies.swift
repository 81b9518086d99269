#if !canImport(Darwin)
  internal import CCurl

  /// The cookies of a transport, which its transfers share. Only the thread of the transport uses
  /// it, so it needs no lock.
  ///
  /// libcurl does not free it while a transfer uses it, so every transfer retains it.
  @safe final class CurlCookies {
    let handle: UnsafeMutableRawPointer
    /// Whether transfers can share the cookies.
    private let result: CURLSHcode

    /// Why cookies cannot be kept; nil if they can.
    static var problem: String? {
      if !CurlSettings.supports(CURL_VERSION_PSL) {
        return
          "cookies cannot be kept, because libcurl was built without libpsl, and would accept a "
          + "cookie for all hosts of a public suffix such as co.uk: use a libcurl with libpsl"
      }
      let code = CurlCookies().result
      if code == CURLSHE_OK { return nil }
      let reason = unsafe String(cString: curl_share_strerror(code))
      return "cookies cannot be kept, because libcurl cannot share them: \(reason)"
    }

    init() {
      guard let handle = unsafe curl_share_init() else { fatalError("out of memory") }
      unsafe self.handle = handle
      result = unsafe composite_curl_share_cookies(handle)
    }

    deinit { unsafe curl_share_cleanup(handle) }
  }
#endif
