import HTTPOperations

extension HostileAnswer {
  private static let long = "/target/" + String(repeating: "a", count: 10_000)

  private static func redirect(_ location: String, _ end: HostileEnd) -> HostileAnswer {
    HostileAnswer(
      "Location: \(location.prefix(60).debugDescription)",
      head: ["HTTP/1.1 302 Found", "Location: \(location)", "Content-Length: 0"], end)
  }

  private static func badLocation(_ location: String, _ shown: String) -> HostileAnswer {
    redirect(location, .redirect(.badLocation(shown)))
  }

  /// Redirects. The response at their target is its path.
  static let redirects: [HostileAnswer] = [
    redirect("/target", .text("target")), redirect("target", .text("target")),
    redirect("./target?a=b#c", .text("/target?a=b")), redirect("../../target", .text("target")),
    redirect("?a", .text("?a")),
    redirect("#a", .redirect(.tooMany(limit: 20))),
    badLocation("ftp://127.0.0.1/target", "ftp://127.0.0.1/target"),
    badLocation("file:///etc/passwd", "file:///etc/passwd"),
    badLocation("javascript:alert(1)", "javascript:alert(1)"),
    badLocation("data:text/plain,hello", "data:text/plain,hello"),
    badLocation("mailto:a@example.org", "mailto:a@example.org"),
    badLocation("gopher://127.0.0.1:70/_a", "gopher://127.0.0.1:70/_a"),
    badLocation("dict://127.0.0.1:11211/stat", "dict://127.0.0.1:11211/stat"),
    badLocation("unix:/var/run/docker.sock", "unix:/var/run/docker.sock"),
    badLocation("http:", "http:"), badLocation("http://", "http://"),
    badLocation("http:///target", "http:///target"),
    badLocation("http://:80/target", "http://:80/target"),
    badLocation("ftp://user:secret@127.0.0.1/?token=secret", "ftp://127.0.0.1/?token=…"),
    badLocation("", "an unreadable URL"), badLocation("   ", "an unreadable URL"),
    badLocation("http://[::1/target", "an unreadable URL"),
    badLocation("http://127.0.0.1:port/target", "an unreadable URL"),
    badLocation("//", "//"), badLocation("///target", "///target"),
    redirect(long, .text(long)),
    redirect("/tärget", .text("/t%C3%A4rget")), redirect("/target a b", .text("/target%20a%20b")),
    redirect("/target%00%0D%0A", .text("/target%00%0D%0A")),
    redirect("/target%zz", .text("/target%25zz")),
    redirect("/target\u{1}", .text("/target%01")),
    redirect("\\\\evil.example\\target", .text("/%5C%5Cevil.example%5Ctarget")),
    redirect("http://127.0.0.1:0/target", .transfer(.cannotConnect, isRetryable: true)),
    redirect(
      "http://127.0.0.1:65536/target",
      .transfer(.badRequest("the URL is invalid"), isRetryable: false)),
    redirect(
      "http://127.0.0.1:99999999999999999999/target",
      .transfer(.badRequest("the URL is invalid"), isRetryable: false)),
    redirect("http://nohost.invalid/target", .transfer(.hostNotFound, isRetryable: true)),
    redirect("http://a b.invalid/target", .redirect(.badLocation("an unreadable URL"))),
    HostileAnswer(
      "two Locations", head: ["HTTP/1.1 302 Found", "Location: /target", "Location: /other"],
      .redirect(.badLocation("/other,%20/target"))),
    HostileAnswer(
      "two equal Locations",
      head: ["HTTP/1.1 302 Found", "Location: /target", "Location: /target"], .text("target")),
    HostileAnswer(
      "a Location in Latin-1",
      Array("HTTP/1.1 302 Found\r\nLocation: /target-".utf8) + [0xE4] + Array("\r\n\r\n".utf8),
      .text("/target-%C3%A4")),
    HostileAnswer(
      "a folded Location", head: ["HTTP/1.1 302 Found", "Location:", " /target"], .text("target")),
    HostileAnswer("no Location", head: ["HTTP/1.1 302 Found"], .redirect(.badLocation(nil))),
    HostileAnswer(
      "a Location in the status 200",
      head: ["HTTP/1.1 200 OK", "Location: /target", "Content-Length: 5"], "hello", .text("hello")),
    HostileAnswer(
      "300", head: ["HTTP/1.1 300 Choices", "Location: /target", "Content-Length: 5"], "hello",
      .text("hello", status: 300)
    ).only(.data, .upload),
    HostileAnswer(
      "305", head: ["HTTP/1.1 305 Use Proxy", "Location: /target", "Content-Length: 5"], "hello",
      .text("hello", status: 305)
    ).only(.data, .upload),
    HostileAnswer(
      "a redirect that is cut in the head", "HTTP/1.1 302 Found\r\nLocation: /target\r\n", .lost),
    HostileAnswer(
      "a redirect with an invalid length",
      head: ["HTTP/1.1 302 Found", "Location: /target", "Content-Length: -1"], .invalid),
    HostileAnswer(
      "NUL in a Location", head: ["HTTP/1.1 302 Found", "Location: /target\0.html"], .invalid),
    HostileAnswer(
      "a bare CR in a Location",
      head: ["HTTP/1.1 302 Found", "Location: /target\rSet-Cookie: a=b"], .invalid),
  ]
}
