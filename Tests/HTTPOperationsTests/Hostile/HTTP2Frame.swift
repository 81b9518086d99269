/// A frame of HTTP/2 (RFC 9113, section 4), valid or not.
struct HTTP2Frame: Sendable {
  enum Kind: UInt8 {
    case data, headers, priority, reset, settings, pushPromise, ping, goAway, windowUpdate
    case continuation
    case unknown = 0xFA
  }

  let kind: UInt8
  let flags: UInt8
  let stream: UInt32
  let payload: [UInt8]

  static let endStream: UInt8 = 1
  static let isAck: UInt8 = 1
  static let endHeaders: UInt8 = 4
  static let isPadded: UInt8 = 8

  init(_ kind: UInt8, flags: UInt8, stream: UInt32, _ payload: [UInt8]) {
    self.kind = kind
    self.flags = flags
    self.stream = stream
    self.payload = payload
  }

  init(_ kind: Kind, flags: UInt8 = 0, stream: UInt32 = 0, _ payload: [UInt8] = []) {
    self.init(kind.rawValue, flags: flags, stream: stream, payload)
  }

  var bytes: [UInt8] { Self.bytes(kind, flags, stream, length: payload.count) + payload }

  func has(_ flag: UInt8) -> Bool { flags & flag != 0 }

  /// The header of a frame, followed by a payload that may have another length.
  static func bytes(_ kind: UInt8, _ flags: UInt8, _ stream: UInt32, length: Int) -> [UInt8] {
    bigEndian(UInt32(length)).dropFirst() + [kind, flags] + bigEndian(stream)
  }

  static func bigEndian(_ number: UInt32) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
  }
}

extension HTTP2Frame {
  static func settings(_ values: (id: UInt8, value: UInt32)...) -> HTTP2Frame {
    HTTP2Frame(.settings, values.flatMap { [0, $0.id] + bigEndian($0.value) })
  }

  static func headers(
    _ stream: UInt32, _ block: [UInt8], flags: UInt8 = endHeaders
  ) -> HTTP2Frame {
    HTTP2Frame(.headers, flags: flags, stream: stream, block)
  }

  static func data(_ stream: UInt32, _ text: String, ends: Bool = false) -> HTTP2Frame {
    HTTP2Frame(.data, flags: ends ? endStream : 0, stream: stream, Array(text.utf8))
  }

  static func reset(_ stream: UInt32, _ code: UInt32) -> HTTP2Frame {
    HTTP2Frame(.reset, stream: stream, bigEndian(code))
  }

  static func goAway(last: UInt32, _ code: UInt32) -> HTTP2Frame {
    HTTP2Frame(.goAway, bigEndian(last) + bigEndian(code))
  }

  static func windowUpdate(_ stream: UInt32, _ increment: UInt32) -> HTTP2Frame {
    HTTP2Frame(.windowUpdate, stream: stream, bigEndian(increment))
  }
}

/// Headers in the format of HPACK (RFC 7541), without compression.
enum HPACK {
  /// `:status: 200`, from the static table.
  static let ok: [UInt8] = [0x88]
  static let noContent: [UInt8] = [0x89]
  static let notFound: [UInt8] = [0x8D]

  /// - Parameter fields: Names and values of less than 127 bytes.
  static func fields(_ fields: (String, String)...) -> [UInt8] {
    fields.flatMap { [0] + string($0) + string($1) }
  }

  private static func string(_ text: String) -> [UInt8] {
    [UInt8(text.utf8.count)] + Array(text.utf8)
  }
}
