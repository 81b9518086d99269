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
      let retained = unsafe Unmanaged.passRetained(FilePart(of: file, to: connection))
      // Not from the descriptor: libmicrohttpd 0.9.75 would wait for the rest of a file that has
      // become shorter, and would not tell how far it is.
      let message = unsafe MHD_create_response_from_callback(
        UInt64(file.size), 32 << 10,
        { context, position, bytes, count in
          guard let context = unsafe context else { return endOfBody(withError: true) }
          let part = unsafe Unmanaged<FilePart>.fromOpaque(context).takeUnretainedValue()
          let buffer = unsafe UnsafeMutableRawBufferPointer(start: bytes, count: count)
          return unsafe part.read(into: buffer, at: position) ?? endOfBody(withError: true)
        }, retained.toOpaque(),
        { context in
          guard let context = unsafe context else { return }
          unsafe Unmanaged<FilePart>.fromOpaque(context).release()
        })
      if unsafe message == nil { unsafe retained.release() }
      return unsafe message
    case .events:
      let retained = unsafe Unmanaged.passRetained(connection)
      let message = unsafe MHD_create_response_from_callback(
        .max, 4_096,
        { context, _, bytes, count in
          guard let context = unsafe context else { return endOfBody(withError: true) }
          let connection = unsafe Unmanaged<ServerConnection>.fromOpaque(context)
            .takeUnretainedValue()
          let buffer = unsafe UnsafeMutableRawBufferPointer(start: bytes, count: count)
          switch unsafe connection.readEvents(into: buffer) {
          case .bytes(let count): return count
          case .suspend: return 0
          case .end: return endOfBody(withError: false)
          case .failure: return endOfBody(withError: true)
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

/// The contents of a file that are sent to a client.
private final class FilePart {
  private let file: ResponseFile
  private let connection: ServerConnection

  init(of file: ResponseFile, to connection: ServerConnection) {
    (self.file, self.connection) = (file, connection)
  }

  /// - Returns: The number of bytes; nil if the file has ended too early or cannot be read.
  func read(into buffer: UnsafeMutableRawBufferPointer, at position: UInt64) -> Int? {
    let count = unsafe pread(
      file.descriptor.rawValue, buffer.baseAddress, buffer.count, off_t(position))
    if count <= 0 { return nil }
    connection.willSendPart()
    return count
  }
}

/// The values of `MHD_CONTENT_READER_END_OF_STREAM` and `MHD_CONTENT_READER_END_WITH_ERROR`.
private func endOfBody(withError isError: Bool) -> Int { isError ? -2 : -1 }
