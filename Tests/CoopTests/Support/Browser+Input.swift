import Foundation
import TestSupport
import Testing

/// The input of a person, and what a person sees.
extension Browser {
  // MARK: Pointer

  /// Clicks the middle of the first element that matches a selector.
  func click(_ selector: String) async throws {
    try await moveTo(selector) { point in
      for type in ["mouseMoved", "mousePressed", "mouseReleased"] {
        try await pointer(type, at: point)
      }
    }
  }

  /// Calls a closure with the middle of an element, which is scrolled into view and not covered.
  func moveTo(_ selector: String, _ body: ((Double, Double)) async throws -> Void) async throws {
    let point: [Double] = try await value(
      """
      (() => {
        const element = document.querySelector(\(selector.quotedForScript));
        if (!element) throw Error("no element");
        element.scrollIntoView({ block: "center" });
        const box = element.getClientRects()[0];
        if (!box) throw Error("hidden element");
        const point = [box.x + box.width / 2, box.y + box.height / 2];
        if (!element.contains(document.elementFromPoint(...point))) throw Error("covered element");
        return point;
      })()
      """)
    try await body((point[0], point[1]))
  }

  func pointer(_ type: String, at point: (Double, Double)) async throws {
    try await send(
      "Input.dispatchMouseEvent",
      [
        "type": type, "x": point.0, "y": point.1, "clickCount": type == "mouseMoved" ? 0 : 1,
        "button": type == "mouseMoved" ? "none" : "left",
      ])
  }

  // MARK: Keys

  private static let keys: [String: (code: Int, text: String?)] = [
    "Tab": (9, nil), "Enter": (13, "\r"), "Escape": (27, nil), " ": (32, " "),
    "ArrowDown": (40, nil), "Backspace": (8, nil),
  ]

  /// Presses a key by its name, or a character.
  func press(_ key: String, withShift: Bool = false) async throws {
    let known = Self.keys[key]
    // The codes of other characters are those of keys such as Page Down.
    let isLetter = key.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
    let letter = isLetter ? Int(key.uppercased().unicodeScalars.first?.value ?? 0) : 0
    let code = known?.code ?? letter
    var event: [String: Any] = [
      "key": key, "windowsVirtualKeyCode": code, "modifiers": withShift ? 8 : 0,
    ]
    let text = known == nil ? key : known?.text
    event["type"] = text == nil ? "rawKeyDown" : "keyDown"
    event["text"] = text
    try await send("Input.dispatchKeyEvent", event)
    event["type"] = "keyUp"
    event["text"] = nil
    try await send("Input.dispatchKeyEvent", event)
  }

  /// Types a text into the focused field.
  func type(_ text: String) async throws {
    for character in text { try await press(String(character)) }
  }

  /// Replaces the contents of a field by typing.
  func fill(_ selector: String, _ text: String) async throws {
    try await click(selector)
    try await evaluate("document.activeElement.select()")
    try await press("Backspace")
    try await type(text)
  }

  /// Presses Tab until an element has the focus.
  ///
  /// - Returns: The elements that had the focus on the way, and the element.
  @discardableResult
  func tab(to selector: String, limit: Int = 60) async throws -> [String] {
    var names: [String] = []
    while names.count < limit {
      try await press("Tab")
      names.append(try await focus)
      let isThere = "document.activeElement.matches(\(selector.quotedForScript))"
      if try await value(isThere) { return names }
    }
    throw BrowserError(description: "Tab does not reach \(selector), but \(names)")
  }

  /// The focused element: its tag, and its identifier or text.
  var focus: String {
    get async throws {
      try await value(
        """
        (() => {
          const element = document.activeElement;
          return element.localName + " " + (element.id || element.textContent.trim());
        })()
        """)
    }
  }

  // MARK: Appearance

  func emulate(darkMode: Bool) async throws {
    let feature = ["name": "prefers-color-scheme", "value": darkMode ? "dark" : "light"]
    try await send("Emulation.setEmulatedMedia", ["features": [feature]])
  }

  func emulate(width: Int, height: Int = 900) async throws {
    try await send(
      "Emulation.setDeviceMetricsOverride",
      ["width": width, "height": height, "deviceScaleFactor": 1, "mobile": false])
  }

  /// The picture of the whole page, or of its visible part, as PNG.
  func picture(ofWholePage: Bool = false) async throws -> Data {
    let reply = try await send(
      "Page.captureScreenshot", ["format": "png", "captureBeyondViewport": ofWholePage])
    return try #require((reply["data"] as? String).flatMap { Data(base64Encoded: $0) })
  }
}
