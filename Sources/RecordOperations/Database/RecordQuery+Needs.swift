extension RecordQuery {
  /// What a database has to be able to do to answer it.
  var needs: RecordCapabilities {
    (predicate?.needs ?? []).union(order.isEmpty ? [] : .sorting)
  }
}

extension RecordPredicate {
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
