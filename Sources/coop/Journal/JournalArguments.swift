import CommandLineOperations
import DurableOperations

#if canImport(HTTPServing)
  import HTTPServing
#endif

/// The arguments of `coop journal`.
struct JournalArguments {
  enum Action: String, CaseIterable {
    case list, show, cancel, retry, send, forget, check, copy, serve, `init`

    /// The positional arguments, in order.
    var positions: [String] {
      switch self {
      case .list, .check, .serve, .`init`: []
      case .show, .cancel, .retry, .forget: ["RUN"]
      case .send: ["RUN", "EVENT", "JSON"]
      case .copy: ["FILE"]
      }
    }

    /// The options that select runs.
    static let filters = ["--flow", "--reason", "--since", "--state", "--text"]

    /// Whether it acts on one run, or on those that options select.
    var takesFilters: Bool { options.contains("--confirm") }

    var options: [String] {
      switch self {
      case .list: Self.filters + ["--json", "--limit"]
      case .show: ["--json", "--live"]
      case .cancel: ["--because", "--confirm"] + Self.filters
      case .retry: ["--confirm", "--from"] + Self.filters
      case .forget: ["--confirm", "--older-than"] + Self.filters
      case .serve:
        ["--address", "--host", "--public-url", "--read-only", "--token-file", "--user-header"]
      case .send, .check, .copy, .`init`: []
      }
    }
  }

  /// The path of a file, or the address of a database.
  let place: String
  private(set) var queue: String?
  let action: Action
  private(set) var options = TraceOptions()
  /// Empty for the actions without a run.
  private(set) var run: RunID = ""
  /// The path of the copy; empty for the actions without one.
  private(set) var file = ""
  private(set) var event = ""
  private(set) var payload = ""

  private(set) var states: Set<RunState> = []
  private(set) var flow: String?
  /// A part of the names of runs.
  private(set) var text: String?
  /// A part of why runs have failed, are stuck or were cancelled.
  private(set) var failure: String?
  /// How long ago runs began at most.
  private(set) var since: Duration?
  private(set) var limit = Int.max
  /// Whether an option selects the runs of an action, instead of the name of a run.
  private(set) var isForSelection = false
  /// The number of runs that the action is meant for.
  private(set) var confirmed: Int?
  private(set) var isJSON = false
  private(set) var isLive = false
  private(set) var reason: String?
  private(set) var step: Int?
  private(set) var age: Duration?
  private(set) var address = "127.0.0.1:8080"
  private(set) var hosts: [String] = []
  private(set) var isReadOnly = false
  private(set) var tokenFile: String?
  /// The address of a proxy in front of the page.
  private(set) var publicURL: String?
  /// The field in which the proxy names the user.
  private(set) var userHeader: String?

  init(_ arguments: ArraySlice<RawPath>) throws(UsageError) {
    var rest = arguments
    guard let file = rest.popFirst() else {
      throw UsageError("journal: no STORE; expected \(StoreOptions.expected)")
    }
    place = try StoreOptions.place(file, "STORE", for: "journal")
    let actions = "list, show, cancel, retry, send, forget, check, copy, serve or init"
    guard let word = rest.popFirst() else {
      throw UsageError("journal: no action; expected \(actions)")
    }
    guard let action = word.text.flatMap(Action.init) else {
      throw UsageError("journal: unknown action \(word); expected \(actions)")
    }
    self.action = action
    var positions: [String] = []
    var takesOptions = true
    while let argument = rest.popFirst() {
      if takesOptions, argument.text == "--queue" {
        queue = try StoreOptions.queue(from: &rest, at: place, for: name)
        continue
      }
      if takesOptions, action == .show, try options.take(argument, from: &rest, for: name) {
        continue
      }
      guard let text = argument.text else {
        throw UsageError("\(name): the argument \(argument) is not UTF-8; expected text")
      }
      // The payload of an event may be a negative number.
      let isPayload = action == .send && positions.count == 2
      if takesOptions, text == "--" {
        takesOptions = false
      } else if takesOptions, text.hasPrefix("-"), !isPayload {
        try take(argument, text, from: &rest)
      } else if positions.count == action.positions.count {
        throw UsageError("\(name): unexpected argument \(argument); expected \(expected)")
      } else {
        positions.append(text)
      }
    }
    if let missing = positions.firstIndex(of: "") {
      throw UsageError(
        "\(name): an empty \(action.positions[missing]); expected \(expected)")
    }
    if isForSelection, action.takesFilters, !positions.isEmpty || age != nil || step != nil {
      throw UsageError(
        "\(name): expected either \(age == nil ? step == nil ? "RUN" : "--from" : "--older-than") or "
          + Action.filters.joined(separator: ", "))
    }
    if confirmed != nil, !isForSelection {
      throw UsageError(
        "\(name): --confirm without a selection; expected \(Action.filters.joined(separator: ", "))"
      )
    }
    if action == .forget, !isForSelection, (age == nil) == positions.isEmpty {
      throw UsageError(
        "\(name): expected either RUN, or --older-than AGE, such as --older-than 7d, or a selection, such as "
          + "--state result")
    }
    if age == nil, !isForSelection || !action.takesFilters, positions.count < action.positions.count
    {
      throw UsageError(
        "\(name): no \(action.positions[positions.count]); expected \(expected)")
    }
    if publicURL != nil, tokenFile == nil {
      throw UsageError(
        "\(name): --public-url without --token-file FILE; the proxy sends the token of FILE in the field "
          + "Authorization, after `Bearer`")
    }
    if userHeader != nil, publicURL == nil {
      throw UsageError("\(name): --user-header without --public-url URL, the address of the proxy")
    }
    if let first = positions.first { (run, self.file) = (RunID(first), first) }
    if positions.count == 3 { (event, payload) = (positions[1], positions[2]) }
  }

  private var name: String { "journal \(action.rawValue)" }

  private var expected: String {
    (action.positions + ["options"]).joined(separator: " ")
  }

  /// Whether a text can be the name of a host: parts of letters, digits, hyphens and underscores,
  /// with dots between them.
  private static func isHost(_ text: String) -> Bool {
    text.utf8.count <= 253 && text.wholeMatch(of: /[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*/) != nil
  }

  private mutating func take(
    _ argument: RawPath, _ option: String, from rest: inout ArraySlice<RawPath>
  ) throws(UsageError) {
    guard action.options.contains(option) else {
      let known =
        action.options + (action == .show ? ["--timeline", "--trace"] : []) + ["--queue"]
      let expected = known.joined(separator: ", ")
      throw UsageError("\(name): unknown option \(argument); expected \(expected)")
    }
    func value(_ expected: String) throws(UsageError) -> String {
      guard let value = rest.popFirst()?.text, !value.isEmpty else {
        throw UsageError("\(name): \(option) without a value; expected \(expected)")
      }
      return value
    }
    func invalid(_ text: String, _ expected: String) -> UsageError {
      UsageError("\(name): invalid \(option) \(RawPath(text)); expected \(expected)")
    }
    func number(_ expected: String, from least: Int) throws(UsageError) -> Int {
      let text = try value(expected)
      guard let number = Int(text), number >= least else { throw invalid(text, expected) }
      return number
    }
    if Action.filters.contains(option) { isForSelection = true }
    switch option {
    case "--json": isJSON = true
    case "--live": isLive = true
    case "--reason": failure = try value("a part of a reason or an error")
    case "--confirm": confirmed = try number("the number of the selected runs", from: 0)
    case "--text": text = try value("a part of the names of runs")
    case "--limit": limit = try number("a number of runs from 1", from: 1)
    case "--flow": flow = try value("the name of a flow")
    case "--address":
      let expected =
        "an IP address and a port, such as 127.0.0.1:8080 or [::1]:8080; port 0 is any free one"
      address = try value(expected)
      #if canImport(HTTPServing)
        do { _ = try ServerAddress(address) } catch { throw invalid(address, expected) }
      #endif
    case "--host":
      let expected = "a name of this machine without a port, such as runs.example"
      let text = try value(expected)
      guard Self.isHost(text) else { throw invalid(text, expected) }
      hosts.append(text)
    case "--read-only": isReadOnly = true
    case "--token-file": tokenFile = try value("the file with the token")
    case "--public-url":
      let expected = "the address of the proxy without a path, such as https://runs.example"
      let text = try value(expected)
      #if canImport(HTTPServing)
        if PublicOrigin(text) == nil { throw invalid(text, expected) }
      #endif
      publicURL = text
    case "--user-header":
      let expected = "the name of a field, such as X-Forwarded-User"
      let text = try value(expected)
      guard text.wholeMatch(of: /[A-Za-z0-9-]+/) != nil else { throw invalid(text, expected) }
      userHeader = text
    case "--because": reason = try value("a reason")
    case "--state":
      let expected = RunState.allCases.map(\.rawValue).joined(separator: ", ")
      let text = try value("one of \(expected)")
      guard let state = RunState(rawValue: text) else {
        throw invalid(text, "one of \(expected)")
      }
      states.insert(state)
    case "--from": step = try number("the number of a step, from 0", from: 0)
    default:
      let expected = "a number and s, m, h, d or w, such as 7d"
      let text = try value(expected)
      guard let age = Duration(age: text) else { throw invalid(text, expected) }
      if option == "--since" { since = age } else { self.age = age }
    }
  }
}

extension Duration {
  /// Nil if the text is not a number with a unit.
  fileprivate init?(age text: String) {
    let units: [Character: Int] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800]
    guard let unit = text.last.flatMap({ units[$0] }), let number = Int(text.dropLast()),
      // A thousand years, so that no date overflows.
      (0...31_557_600_000 / unit).contains(number)
    else { return nil }
    self = .seconds(number * unit)
  }
}
