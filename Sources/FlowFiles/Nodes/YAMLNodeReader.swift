#if canImport(CYAML)
  internal import SystemSupport

  /// Reads YAML into nodes. All scalars are texts.
  ///
  /// Anchors and aliases are read. Tags and merge keys are problems, because they give texts a
  /// meaning that does not show in them.
  struct YAMLNodeReader: ~Copyable {
    private struct Anchor {
      let node: FlowNode
      /// The number of nodes, including the node itself.
      let size: Int
    }

    private var events: YAMLEvents
    private var problems: [FlowProblem] = []
    private var nodes = 0
    private var aliasedNodes = 0
    /// The complete anchors.
    private var anchors: [String: Anchor] = [:]
    private var anchorLocations: [String: FlowLocation] = [:]

    static func tree(_ source: FlowSource) throws(FlowSyntaxError) -> FlowNodeTree {
      try checkDirectives(source)
      guard !source.isEmpty else { throw FlowSyntaxError(.start, FlowSource.emptyMessage) }
      return try unsafe source.bytes.withUnsafeBufferPointer { bytes throws(FlowSyntaxError) in
        var reader = YAMLNodeReader(events: try unsafe YAMLEvents.events(of: bytes))
        do throws(FlowSyntaxError) { return try reader.whole() } catch {
          throw error.withAdvice(source)
        }
      }
    }

    private init(events: consuming YAMLEvents) { self.events = events }

    /// Refuses declarations of tags: libyaml compares each with all others, which takes minutes for
    /// 100,000 of them.
    private static func checkDirectives(_ source: FlowSource) throws(FlowSyntaxError) {
      let directive = Array("%TAG".utf8)
      var line = 1
      var isStart = true
      for (index, byte) in source.bytes.enumerated() {
        if isStart, byte == directive[0], source.bytes[index...].starts(with: directive) {
          throw FlowSyntaxError(
            FlowLocation(line: line, column: 1), "tags are not supported: '%TAG'")
        }
        isStart = byte == .lineFeed || byte == .carriageReturn
        if byte == .lineFeed { line += 1 }
      }
    }

    private mutating func whole() throws(FlowSyntaxError) -> FlowNodeTree {
      var root: FlowNode?
      while true {
        let event = try events.next()
        switch event.content {
        case .documentStart:
          guard root == nil else {
            throw FlowSyntaxError(event.location, "a second document; a flow file has one")
          }
          root = try node(try events.next(), depth: 0).node
        case .streamEnd:
          guard let root else { throw FlowSyntaxError(.start, FlowSource.emptyMessage) }
          if case .nothing = root.content {
            throw FlowSyntaxError(root.location, FlowSource.emptyMessage)
          }
          return FlowNodeTree(root: root, problems: problems)
        case .streamStart, .documentEnd, .alias, .scalar, .listStart, .listEnd, .mappingStart,
          .mappingEnd:
          continue
        }
      }
    }

    private mutating func node(
      _ event: YAMLEvent, depth: Int
    ) throws(FlowSyntaxError) -> (node: FlowNode, size: Int) {
      if case .alias(let name) = event.content { return try alias(name, event.location) }
      nodes += 1
      if nodes > FlowLimits.nodes { throw .tooManyNodes(event.location) }
      if let tag = event.tag {
        problems.append(FlowProblem(event.location, "tags are not supported: \(tag.quoted)"))
      }
      if let anchor = event.anchor { try declare(anchor, event.location) }
      let (content, size) = try content(of: event, depth: depth)
      let node = FlowNode(content: content, location: event.location)
      if let anchor = event.anchor { anchors[anchor] = Anchor(node: node, size: size) }
      return (node, size)
    }

    private mutating func content(
      of event: YAMLEvent, depth: Int
    ) throws(FlowSyntaxError) -> (FlowNode.Content, size: Int) {
      switch event.content {
      case .scalar(let text, let isPlain):
        return (isPlain && text.isEmpty ? .nothing : .text(text), 1)
      case .listStart:
        if depth == FlowLimits.depth { throw .tooDeep(event.location) }
        return try elements(depth)
      case .mappingStart:
        if depth == FlowLimits.depth { throw .tooDeep(event.location) }
        return try entries(depth)
      case .streamStart, .streamEnd, .documentStart, .documentEnd, .alias, .listEnd, .mappingEnd:
        // libyaml checks the order of its events.
        throw FlowSyntaxError(event.location, "expected a value")
      }
    }

    private mutating func elements(
      _ depth: Int
    ) throws(FlowSyntaxError) -> (FlowNode.Content, size: Int) {
      var elements: [FlowNode] = []
      var total = 1
      while true {
        let event = try events.next()
        if case .listEnd = event.content { return (.list(elements), total) }
        let (node, size) = try node(event, depth: depth + 1)
        elements.append(node)
        total += size
      }
    }

    private mutating func entries(
      _ depth: Int
    ) throws(FlowSyntaxError) -> (FlowNode.Content, size: Int) {
      var entries: [FlowNode.Entry] = []
      var total = 1
      while true {
        let event = try events.next()
        if case .mappingEnd = event.content { return (.mapping(entries), total) }
        let isMerge = event.isMergeKey
        if isMerge {
          problems.append(
            FlowProblem(event.location, "merge keys are not supported; repeat the entries"))
        }
        let (keyNode, keySize) = try node(event, depth: depth + 1)
        let (value, size) = try node(try events.next(), depth: depth + 1)
        total += keySize + size
        switch keyNode.content {
        case .text(let key):
          if isMerge { continue }
          entries.append(FlowNode.Entry(key: key, location: event.location, value: value))
        case .nothing, .list, .mapping:
          problems.append(
            FlowProblem(event.location, "expected a text as the key, found \(keyNode.kind)"))
        }
      }
    }

    // MARK: - Aliases

    private mutating func declare(
      _ anchor: String, _ location: FlowLocation
    ) throws(FlowSyntaxError) {
      if let first = anchorLocations.updateValue(location, forKey: anchor) {
        throw FlowSyntaxError(
          location, "duplicate anchor \(anchor.quoted); the first is in line \(first.line)")
      }
    }

    private mutating func alias(
      _ name: String, _ location: FlowLocation
    ) throws(FlowSyntaxError) -> (node: FlowNode, size: Int) {
      guard let anchor = anchors[name] else {
        throw FlowSyntaxError(
          location,
          anchorLocations[name] == nil
            ? "unknown alias \(name.quoted); expected an anchor '&\(name)' before it"
            : "the alias \(name.quoted) is part of its own anchor")
      }
      aliasedNodes += anchor.size
      guard aliasedNodes <= FlowLimits.aliasedNodes else {
        throw FlowSyntaxError(
          location, "aliases add more than \(FlowLimits.aliasedNodes) values to the file")
      }
      // The values in it keep their locations.
      return (FlowNode(content: anchor.node.content, location: location), anchor.size)
    }
  }

  extension YAMLEvent {
    fileprivate var isMergeKey: Bool {
      if case .scalar("<<", isPlain: true) = content { true } else { false }
    }
  }
#endif
