/// The columns of a child of `matrix` or `rows-of`, in their order.
///
/// The value of the child is a text of all columns, such as `os=linux,size=1`. It is a part of the
/// name of the child, so a changed row is another child, and equal rows are the same child. The
/// first column alone would not do: a changed row would keep the success of the earlier one.
struct FlowRow: Sendable {
  let columns: [(name: String, text: String)]

  init(_ columns: [(name: String, text: String)]) { self.columns = columns }

  /// Reads the value of a child.
  init(value: String) {
    var columns: [(String, String)] = []
    var name: String?
    var bytes: [UInt8] = []
    var isEscaped = false
    func text() -> String { String(decoding: bytes, as: UTF8.self) }
    for byte in value.utf8 {
      switch byte {
      case UInt8(ascii: "\\") where !isEscaped:
        isEscaped = true
        continue
      case UInt8(ascii: "=") where !isEscaped && name == nil:
        name = text()
        bytes = []
      case UInt8(ascii: ",") where !isEscaped:
        columns.append((name ?? "", text()))
        name = nil
        bytes = []
      default: bytes.append(byte)
      }
      isEscaped = false
    }
    columns.append((name ?? "", text()))
    self.columns = columns
  }

  /// The value of the child. A backslash precedes each comma and each backslash, and in names each
  /// equals sign.
  var value: String {
    columns.map { "\($0.name.escaping("\\,="))=\($0.text.escaping("\\,"))" }.joined(separator: ",")
  }

  subscript(name: String) -> String? { columns.first { $0.name == name }?.text }
}

extension String {
  fileprivate func escaping(_ characters: StaticString) -> String {
    let escaped = "\(characters)".utf8
    var bytes: [UInt8] = []
    for byte in utf8 {
      if escaped.contains(byte) { bytes.append(UInt8(ascii: "\\")) }
      bytes.append(byte)
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

extension FlowEach {
  /// The number of the children that the file itself names; nil if it names none.
  var knownCount: Int? {
    switch self {
    case .list(let templates): templates.count
    case .matrix(let columns):
      columns.reduce(1) { count, column in
        let (product, isTooLarge) = count.multipliedReportingOverflow(by: column.values.count)
        return isTooLarge ? .max : product
      }
    case .glob, .linesOf, .rowsOf, .rowsOfFile, .sameAs: nil
    }
  }

  /// The values of the children that the file itself names; nil if it names none. Of a matrix, the
  /// last column changes first.
  func knownValues(_ texts: [String: String]) -> [String]? {
    switch self {
    case .list(let templates): return templates.map { $0.text(texts) }
    case .matrix(let columns):
      var rows: [[(name: String, text: String)]] = [[]]
      for column in columns {
        let values = column.values.map { (name: column.name, text: $0.text(texts)) }
        rows = rows.flatMap { row in values.map { row + [$0] } }
      }
      return rows.map { FlowRow($0).value }
    case .glob, .linesOf, .rowsOf, .rowsOfFile, .sameAs: return nil
    }
  }

  /// Whether the children have columns; nil for `same-as`.
  var hasColumns: Bool? {
    switch self {
    case .list, .glob, .linesOf: false
    case .matrix, .rowsOf, .rowsOfFile: true
    case .sameAs: nil
    }
  }
}

extension FlowFile {
  /// Whether the children of a step have columns.
  func hasColumns(_ step: FlowStep) -> Bool {
    var each = step.each
    while case .sameAs(let source) = each { each = self.step(named: source.name)?.each }
    return each?.hasColumns ?? false
  }
}
