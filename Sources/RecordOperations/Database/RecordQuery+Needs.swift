extension RecordQuery {
  /// What a database has to be able to do to answer it.
  var needs: RecordCapabilities {
    (predicate?.needs ?? []).union(order.isEmpty ? [] : .sorting)
  }
}

extension RecordPredicate {
  /// The fields that it looks at.
  var keys: Set<String> {
    switch self {
    case .comparison(let key, _, _), .isOne(let key, _), .hasPrefix(let key, _),
      .contains(let key, _), .includes(let key, _):
      [key]
    case .all(let parts), .any(let parts): parts.reduce(into: []) { $0.formUnion($1.keys) }
    case .not(let part): part.keys
    case .impossible: []
    }
  }

  /// What a database has to be able to do for it.
  var needs: RecordCapabilities {
    switch self {
    case .comparison, .isOne, .hasPrefix, .impossible: []
    case .contains: .textSearch
    case .includes: .listSearch
    case .all(let parts): parts.reduce(into: []) { $0.formUnion($1.needs) }
    case .any(let parts): parts.reduce(into: .alternatives) { $0.formUnion($1.needs) }
    case .not(let part): part.needs.union(.negation)
    }
  }
}
