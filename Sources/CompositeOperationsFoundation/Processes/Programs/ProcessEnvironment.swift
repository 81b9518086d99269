internal import SystemSupport

/// The environment variables of a program.
enum ProcessEnvironment: Sendable {
  case inherited
  /// The variables of this process, with some set, or removed by nil.
  case changed([String: String?])
  case exact([String: String])

  mutating func set(_ variables: [String: String?]) {
    switch self {
    case .inherited: self = .changed(variables)
    case .changed(let before): self = .changed(before.merging(variables) { $1 })
    case .exact(var exact):
      for (name, value) in variables { exact[name] = value }
      self = .exact(exact)
    }
  }

  /// The names and values that were set, sorted by name.
  var given: [(name: String, value: String?)] {
    switch self {
    case .inherited: []
    case .changed(let variables): variables.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    case .exact(let variables): variables.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
  }

  /// The value of a variable in the program; nil if there is no such variable.
  func value(of name: String) -> String? {
    switch self {
    case .exact(let variables): return variables[name]
    case .changed(let variables):
      if let value = variables[name] { return value }
    case .inherited: break
    }
    return SystemProcess.variable(name)
  }

  /// The variables as NAME=VALUE; nil if all are inherited.
  var texts: PackedTexts? {
    switch self {
    case .inherited: return nil
    case .changed(let variables):
      var texts = PackedTexts()
      // As bytes, because they need not be UTF-8.
      for variable in SystemProcess.variables {
        let name = variable.prefix { $0 != UInt8(ascii: "=") }
        if variables[String(decoding: name, as: UTF8.self)] == nil { texts.append(variable) }
      }
      texts.append(given)
      return texts
    case .exact:
      var texts = PackedTexts()
      texts.append(given)
      return texts
    }
  }
}

extension PackedTexts {
  fileprivate mutating func append(_ variables: [(name: String, value: String?)]) {
    for (name, value) in variables {
      if let value { append(Array("\(name)=\(value)".utf8)) }
    }
  }
}

/// Concatenated strings for the system, each terminated by a zero byte.
struct PackedTexts {
  private(set) var count = 0
  private var bytes: [CChar] = []

  mutating func append(_ text: some Sequence<UInt8>) {
    bytes.append(contentsOf: text.lazy.map { CChar(bitPattern: $0) })
    bytes.append(0)
    count += 1
  }

  func withUnsafePointer<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
    // An empty list needs an address too: a null pointer would mean that there is no list.
    let bytes = bytes.isEmpty ? [0] : bytes
    return unsafe bytes.withUnsafeBufferPointer { bytes in
      guard let address = bytes.baseAddress else {
        preconditionFailure("a non-empty array has no base address")
      }
      return unsafe body(address)
    }
  }
}
