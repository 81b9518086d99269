import SystemSupport

/// The texts of the variables that a flow file declares as secrets. They are hidden wherever the flow
/// writes a text, and stored only as keyed hashes.
package struct FlowSecrets: Sendable {
  /// The names of the variables that have no text.
  let unset: [String]
  /// The texts and their lines, the longest first.
  private let texts: [[UInt8]]

  package static let none = FlowSecrets(texts: [])
  private static let sign = Array("***".utf8)

  private init(texts: [[UInt8]]) { (self.texts, unset) = (texts, []) }

  /// - Parameter environment: The variables of the process.
  init(_ file: FlowFile, environment: [String: String]) {
    if file.secrets.isEmpty {
      self = .none
      return
    }
    let values = file.texts
    let shared = file.steps.first?.options.value.sharedEnvironment ?? []
    let declared =
      file.environment + shared + file.steps.flatMap { $0.options.value.ownEnvironment }
    var texts: Set<[UInt8]> = []
    var unset: [String] = []
    for name in file.secrets {
      let own = declared.filter { $0.name == name }.map { $0.text.text(values) }
      let found = own + [environment[name], file.variables[name]].compactMap(\.self)
      if found.isEmpty { unset.append(name) }
      for text in found {
        texts.insert(Array(text.utf8))
        // A program may write a line of a key. Short ones, such as a brace, are no secret.
        texts.formUnion(
          text.utf8.split(separator: .lineFeed).filter { $0.count >= 8 }.map(Array.init))
      }
    }
    texts.remove([])
    self.unset = unset
    self.texts = texts.sorted { $0.count > $1.count }
  }

  var isEmpty: Bool { texts.isEmpty }

  /// Returns a text with signs instead of the secrets.
  func hidden(in text: String) -> String {
    let bytes = Array(text.utf8)
    let hidden = hidden(in: bytes)
    return hidden.count == bytes.count && hidden == bytes
      ? text : String(decoding: hidden, as: UTF8.self)
  }

  func hidden(in bytes: [UInt8]) -> [UInt8] {
    if isEmpty { return bytes }
    var hidden: [UInt8] = []
    var rest = bytes[...]
    let begins = Set(texts.compactMap(\.first))
    while let index = rest.firstIndex(where: begins.contains) {
      hidden += rest[..<index]
      rest = rest[index...]
      if let text = texts.first(where: { rest.starts(with: $0) }) {
        hidden += Self.sign
        rest = rest.dropFirst(text.count)
      } else {
        hidden.append(rest.removeFirst())
      }
    }
    return hidden + rest
  }

  /// Whether some bytes have a secret.
  func areFound(in bytes: [UInt8]) -> Bool { hidden(in: bytes) != bytes }
}

extension FlowEnd {
  /// The end without the secrets. The last lines of the output come from a log, which has none.
  func hiding(_ secrets: FlowSecrets) -> FlowEnd {
    if secrets.isEmpty { return self }
    return FlowEnd(
      unit: unit, state: state, reason: reason.map { secrets.hidden(in: $0) }, duration: duration,
      attempts: attempts, lastLines: lastLines, log: log, isChild: isChild)
  }
}

extension FlowFailure {
  func hiding(_ secrets: FlowSecrets) -> FlowFailure {
    switch self {
    case .lines(let text): .lines(secrets.hidden(in: text))
    case .other(let text): .other(secrets.hidden(in: text))
    case .status, .timeout, .onlyIf, .children: self
    }
  }
}
