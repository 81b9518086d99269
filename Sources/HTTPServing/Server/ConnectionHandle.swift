internal import CMicrohttpd
internal import SystemSupport

/// The address of a connection of libmicrohttpd.
// Sendable, because it is only an address. ``ServerConnection`` documents when it is used.
@safe struct ConnectionHandle: @unchecked Sendable {
  let pointer: OpaquePointer

  init(_ pointer: OpaquePointer) { unsafe self.pointer = unsafe pointer }

  var socket: Int32 { unsafe composite_http_socket(pointer) }

  /// The object that belongs to the connection.
  var connection: ServerConnection? {
    guard let object = unsafe composite_http_object(pointer) else { return nil }
    return unsafe Unmanaged<ServerConnection>.fromOpaque(object).takeUnretainedValue()
  }

  /// The address of the client, without the port.
  var peer: String {
    guard let address = unsafe composite_http_peer(pointer) else { return "" }
    return unsafe ServerAddress.numericHost(of: address) ?? ""
  }

  /// Reads the header of the request.
  ///
  /// - Parameters:
  ///   - targetSize: The size of the request target in bytes.
  ///   - limit: The maximum size of the request line and the header in bytes.
  /// - Throws: A ``RequestRefusal``, if the header is too large or not UTF-8, or if it has bytes
  ///   that libmicrohttpd has skipped: zero bytes, folded lines and superfluous spaces.
  func headers(
    method: String, targetSize: Int, version: String, limit: Int
  ) throws(RequestRefusal) -> RequestHeaders {
    let size = unsafe composite_http_header_size(pointer)
    guard size <= limit else {
      throw RequestRefusal(431, "The header is larger than \(limit) bytes.")
    }
    let list = HeaderList()
    unsafe composite_http_read_header(
      pointer,
      { context, _, name, nameSize, value, valueSize in
        guard let context = unsafe context else { return composite_http_no }
        let list = unsafe Unmanaged<HeaderList>.fromOpaque(context).takeUnretainedValue()
        unsafe list.append(
          UnsafeRawBufferPointer(start: name, count: nameSize),
          UnsafeRawBufferPointer(start: value, count: valueSize))
        return composite_http_yes
      }, Unmanaged.passUnretained(list).toOpaque())
    // The request line has two spaces, and each line a line break of two bytes.
    let expected = method.utf8.count + targetSize + version.utf8.count + 2 + 2 + 2 + list.size
    guard list.isValid, size <= expected else {
      throw RequestRefusal(400, "The header has superfluous or invalid bytes.")
    }
    return RequestHeaders(list.fields)
  }
}

/// The fields that libmicrohttpd reports, on one thread.
private final class HeaderList {
  private(set) var fields: [(name: String, value: String)] = []
  private(set) var isValid = true
  /// The size of the fields with a colon, a space and a line break each.
  private(set) var size = 0

  func append(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
    size += name.count + value.count + 4
    // A carriage return without a line feed is part of a value for libmicrohttpd.
    guard unsafe value.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }),
      let name = unsafe String(validating: name, as: UTF8.self),
      let value = unsafe String(validating: value, as: UTF8.self)
    else {
      isValid = false
      return
    }
    fields.append((name, value))
  }
}
