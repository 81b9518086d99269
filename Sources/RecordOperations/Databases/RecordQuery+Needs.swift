extension RecordQuery {
  /// The features that a database needs to run the query.
  var needs: RecordCapabilities {
    (predicate?.needs ?? []).union(order.isEmpty ? [] : .sorting)
  }
}

extension RecordPredicate {
  /// The keys of the fields that the predicate reads.
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

  /// The features that a database needs to evaluate the predicate.
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
