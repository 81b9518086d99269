internal import CMicrohttpd
internal import SystemSupport

extension ConnectionHandle {
  /// Sends a response. It is called on the thread of libmicrohttpd.
  ///
  /// - Parameter isClosing: Whether the connection is closed after the response.
  func queue(
    _ response: HTTPResponse, nonce: String, closing isClosing: Bool,
    for connection: ServerConnection
  ) -> MHD_Result {
    guard let message = unsafe Self.message(response.body, for: connection) else {
      return composite_http_no
    }
    // The response is freed when it is sent.
    defer { unsafe MHD_destroy_response(message) }
    for header in response.headers {
      unsafe MHD_add_response_header(message, header.name, header.value)
    }
    let isCached = response.headers.contains { $0.name.lowercased() == "cache-control" }
    for (name, value) in SecurityHeaders.fields(nonce: nonce)
    where !(isCached && name == "Cache-Control") {
      unsafe MHD_add_response_header(message, name, value)
    }
    if isClosing { unsafe MHD_add_response_header(message, "Connection", "close") }
    return unsafe MHD_queue_response(pointer, UInt32(response.status), message)
  }

  private static func message(
    _ body: HTTPResponse.Body, for connection: ServerConnection
  ) -> OpaquePointer? {
    switch body {
    case .bytes(let bytes):
      return unsafe bytes.withUnsafeBytes { bytes in
        unsafe composite_http_response(bytes.count, bytes.baseAddress)
      }
    case .file(let file):
      // libmicrohttpd closes its descriptor with the response.
      guard let copy = try? file.descriptor.duplicate() else { return nil }
      let message = unsafe MHD_create_response_from_fd64(UInt64(file.size), copy.rawValue)
      if unsafe message == nil { try? copy.close() }
      return unsafe message
    case .events:
      let retained = unsafe Unmanaged.passRetained(connection)
      let message = unsafe MHD_create_response_from_callback(
        .max, 4_096,
        { context, _, bytes, count in
          guard let context = unsafe context else { return endOfEvents(withError: true) }
          let connection = unsafe Unmanaged<ServerConnection>.fromOpaque(context)
            .takeUnretainedValue()
          let buffer = unsafe UnsafeMutableRawBufferPointer(start: bytes, count: count)
          switch unsafe connection.readEvents(into: buffer) {
          case .bytes(let count): return count
          case .suspend: return 0
          case .end: return endOfEvents(withError: false)
          case .failure: return endOfEvents(withError: true)
          }
        }, retained.toOpaque(),
        { context in
          guard let context = unsafe context else { return }
          unsafe Unmanaged<ServerConnection>.fromOpaque(context).release()
        })
      if unsafe message == nil { unsafe retained.release() }
      return unsafe message
    }
  }
}

/// The values of `MHD_CONTENT_READER_END_OF_STREAM` and `MHD_CONTENT_READER_END_WITH_ERROR`.
private func endOfEvents(withError isError: Bool) -> Int { isError ? -2 : -1 }
