#if canImport(CYAML)
  internal import CYAML

  /// An event of libyaml, with the texts copied.
  struct YAMLEvent {
    enum Content {
      case streamStart
      case streamEnd
      case documentStart
      case documentEnd
      case alias(String)
      case scalar(String, isPlain: Bool)
      case listStart
      case listEnd
      case mappingStart
      case mappingEnd
    }

    let content: Content
    let location: FlowLocation
    var anchor: String?
    var tag: String?
  }

  /// The events of a text. It is safe because only `events(of:)` takes an address, and the parser
  /// is freed once.
  @safe struct YAMLEvents: ~Copyable {
    // libyaml keeps addresses within the parser, so it must not move.
    private let parser: UnsafeMutablePointer<yaml_parser_t>

    private init(_ parser: UnsafeMutablePointer<yaml_parser_t>) { unsafe self.parser = parser }

    /// - Parameter bytes: Must exist as long as the events.
    @unsafe static func events(
      of bytes: UnsafeBufferPointer<UInt8>
    ) throws(FlowSyntaxError) -> YAMLEvents {
      guard let start = bytes.baseAddress else {
        throw FlowSyntaxError(.start, FlowSource.emptyMessage)
      }
      let parser = UnsafeMutablePointer<yaml_parser_t>.allocate(capacity: 1)
      guard unsafe yaml_parser_initialize(parser) == 1 else {
        unsafe parser.deallocate()
        throw FlowSyntaxError(nil, "not enough memory to read the file")
      }
      unsafe yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
      unsafe yaml_parser_set_input_string(parser, start, bytes.count)
      return unsafe YAMLEvents(parser)
    }

    deinit {
      unsafe yaml_parser_delete(parser)
      unsafe parser.deallocate()
    }

    /// Returns the next event. There is none after the end of the stream, or after an error.
    mutating func next() throws(FlowSyntaxError) -> YAMLEvent {
      var event = unsafe yaml_event_t()
      guard unsafe yaml_parser_parse(parser, &event) == 1 else {
        throw unsafe error(parser.pointee)
      }
      defer { unsafe yaml_event_delete(&event) }
      return unsafe YAMLEvent(event)
    }

    private func error(_ parser: yaml_parser_t) -> FlowSyntaxError {
      let problem = unsafe parser.problem.map { unsafe String(cString: $0) } ?? "not enough memory"
      // These have no position: the reader of libyaml counts bytes only, and is ahead of the mark.
      // It has no errors, because the bytes were checked.
      if unsafe parser.error == YAML_READER_ERROR || parser.error == YAML_MEMORY_ERROR {
        return FlowSyntaxError(nil, problem)
      }
      let context = unsafe parser.context.map { unsafe " (\(String(cString: $0)))" } ?? ""
      return FlowSyntaxError(unsafe FlowLocation(parser.problem_mark), problem + context)
    }
  }

  extension YAMLEvent {
    init(_ event: yaml_event_t) {
      location = unsafe FlowLocation(event.start_mark)
      switch unsafe event.type {
      case YAML_STREAM_START_EVENT: content = .streamStart
      case YAML_DOCUMENT_START_EVENT: content = .documentStart
      case YAML_DOCUMENT_END_EVENT: content = .documentEnd
      case YAML_ALIAS_EVENT: content = .alias(unsafe text(event.data.alias.anchor) ?? "")
      case YAML_SCALAR_EVENT:
        let scalar = unsafe event.data.scalar
        let bytes = unsafe UnsafeBufferPointer(start: scalar.value, count: scalar.length)
        content = unsafe .scalar(
          String(decoding: bytes, as: UTF8.self), isPlain: scalar.style == YAML_PLAIN_SCALAR_STYLE)
        anchor = unsafe text(scalar.anchor)
        tag = unsafe text(scalar.tag)
      case YAML_SEQUENCE_START_EVENT:
        content = .listStart
        anchor = unsafe text(event.data.sequence_start.anchor)
        tag = unsafe text(event.data.sequence_start.tag)
      case YAML_SEQUENCE_END_EVENT: content = .listEnd
      case YAML_MAPPING_START_EVENT:
        content = .mappingStart
        anchor = unsafe text(event.data.mapping_start.anchor)
        tag = unsafe text(event.data.mapping_start.tag)
      case YAML_MAPPING_END_EVENT: content = .mappingEnd
      // The end of the stream, after which libyaml returns events without a type.
      default: content = .streamEnd
      }
    }
  }

  extension FlowLocation {
    fileprivate init(_ mark: yaml_mark_t) {
      self.init(line: Int(mark.line) + 1, column: Int(mark.column) + 1)
    }
  }

  private func text(_ bytes: UnsafeMutablePointer<yaml_char_t>?) -> String? {
    unsafe bytes.map { unsafe String(cString: $0) }
  }

#endif
