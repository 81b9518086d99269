extension HostileRequest {
  static let headers: [HostileRequest] = [
    .field("a line without a colon", "no colon", 400, 0),
    .field("a space before the colon", "Name : value", 400),
    .field("an empty name", ": value", 400),
    .field("a name with a space", "My Name: value", 400),
    .field("a name that is not ASCII", "Näme: value", 400),
    .field("a folded line", "Name: value\r\n folded", 400),
    .field("a folded line with a tab", "Name: value\r\n\tContent-Length: 5", 400),
    HostileRequest(
      "a folded first line", "GET / HTTP/1.1\r\n Host: evil\r\n\(fields)", 400, 0),
    .field("a carriage return in a value", "Name: a\rSet-Cookie: b", 400),
    .field("a zero byte in a value", "Name: a\0b", 400),
    .field("a zero byte in a name", "Na\0me: b", 400, 0),
    .field("a zero byte at the end", "Name: b\0", 400),
    .field("an escape character in a value", "Name: \u{1B}[2J", 400),
    .field("many spaces in a value", "Name:\(String(repeating: " ", count: 500))b", 400),
    HostileRequest(
      "a value that is not UTF-8",
      bytes: Array("GET / HTTP/1.1\r\nName: ".utf8) + [0xFF, 0xFE] + Array("\r\n\(fields)".utf8),
      [400]),
    // RFC 9112 allows a recipient to accept it.
    HostileRequest(
      "line feeds only",
      bytes: Array("GET / HTTP/1.1\r\n\(fields)".utf8).filter { $0 != 0x0D }, [200]),
    HostileRequest(
      "carriage returns only",
      bytes: Array("GET / HTTP/1.1\r\n\(fields)".utf8).filter { $0 != 0x0A }, [0, 400]),
    .field("a value of 20 KB", "Name: \(String(repeating: "a", count: 20_000))", 431),
    .field("a value of 200 KB", "Name: \(String(repeating: "a", count: 200_000))", 431, 0),
    .field("a name of 20 KB", "\(String(repeating: "a", count: 20_000)): b", 431),
    .field(
      "1,000 fields",
      (0..<1_000).map { "N\($0): \(String(repeating: "v", count: 20))" }.joined(separator: "\r\n"),
      431, 0),
    .field("no host", "X: y", 200),
    HostileRequest("no host", "GET / HTTP/1.1\r\n\r\n", 400),
    HostileRequest("no host in version 1.0", "GET / HTTP/1.0\r\n\r\n", 400),
    HostileRequest("an empty host", "GET / HTTP/1.1\r\nHost:\r\n\r\n", 400, 421),
    .field("two hosts", "Host: {host}", 400),
    .field("two hosts, one of them wrong", "Host: evil.example", 400),
    .host("evil.example"), .host("evil.example:80"), .host("localhost.:1"), .host("127.0.0.1"),
    .host("{host}:{host}"), .host("user@{host}"), .host("{host}, evil.example"),
    .host("127.0.0.1:1"), .host("2130706433:80"), .host("{host}.evil.example"),
    .host("evil.example/{host}"), .host("http://{host}"), .host("[::ffff:127.0.0.1]:80"),
  ]

  private static func host(_ host: String) -> HostileRequest {
    HostileRequest("host \(host)", "GET / HTTP/1.1\r\nHost: \(host)\r\n\r\n", 421)
  }

  static let origins: [HostileRequest] = [
    .origin("another origin", "Origin: http://evil.example", 403),
    .origin("another port", "Origin: http://127.0.0.1:1", 403),
    .origin("another scheme", "Origin: https://{host}", 403),
    .origin("another name of the host", "Origin: http://127.0.0.2:80", 403),
    .origin("a null origin", "Origin: null", 403),
    .origin("a null origin of another site", "Origin: null\r\nSec-Fetch-Site: cross-site", 403),
    .origin("an empty origin", "Origin:", 403),
    .origin("two origins", "Origin: http://{host}\r\nOrigin: http://evil.example", 403),
    .origin("an origin with a path", "Origin: http://{host}/", 403),
    .origin("no origin", "X: y", 403),
    .origin("no origin, the same site", "Sec-Fetch-Site: same-site", 403),
    .origin("no origin, another site", "Sec-Fetch-Site: cross-site", 403),
    .origin("no origin, no site", "Sec-Fetch-Site: none", 403),
    .origin("the own origin without the token", "Origin: http://{host}", 401),
    .access("no token", "X: y"), .access("an empty token", "Authorization: Bearer "),
    .access("a wrong token", "Authorization: Bearer wrong"),
    .access("a part of the token", "Authorization: Bearer 0123456789"),
    .access("the token in a password", "Authorization: Basic {token}"),
    .access("the token in the wrong place", "Authorization: {token}"),
    .access("two tokens", "Authorization: Bearer {token}\r\nAuthorization: Bearer x"),
    .access("a wrong cookie", "Cookie: session-80=x; session={token}"),
  ]

  private static func origin(
    _ description: String, _ field: String, _ status: Int
  ) -> HostileRequest {
    HostileRequest(
      "POST with \(description)",
      "POST / HTTP/1.1\r\nHost: {host}\r\n\(field)\r\nContent-Length: 0\r\n\r\n", status)
  }

  private static func access(_ description: String, _ field: String) -> HostileRequest {
    HostileRequest(
      description, "GET / HTTP/1.1\r\nHost: {host}\r\n\(field)\r\nConnection: close\r\n\r\n", 401)
  }
}
