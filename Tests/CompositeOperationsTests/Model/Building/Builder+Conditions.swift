import CompositeOperations

extension Builder {
  func requiring(
    _ base: some ComposableOperation<ShownValue>, _ requiring: Tree.Requiring, at node: Int
  ) -> AnyShown {
    var all = requiring.conditions.enumerated().map { index, condition in
      self.condition(condition, Site(node: node, index: index))
    }
    if requiring.listsFirstTwice, let first = all.first { all.append(first) }
    switch (requiring.combination, all.count) {
    case (.any, _): return recorded(base.requiring(.any(all)), at: node)
    case (.all, _), (_, 0): return recorded(base.requiring(.all(all)), at: node)
    case (.firstAndAny, _): return recorded(base.requiring(all[0], .any(all)), at: node)
    case (.each, 2): return recorded(base.requiring(all[0], all[1]), at: node)
    case (.each, _), (.stacked, 1): return recorded(base.requiring(all), at: node)
    case (.stacked, _):
      return recorded(base.requiring(Array(all.dropLast())).requiring(all[all.count - 1]), at: node)
    }
  }

  /// The position of a condition.
  private struct Site: Sendable {
    let node: Int
    let index: Int

    var name: String { Tree.Condition.name(index, of: node) }
  }

  private func condition(_ condition: Tree.Condition, _ site: Site) -> Condition {
    let made =
      if let yields = condition.yields {
        Condition(site.name) {
          let ticket = ask(site)
          for _ in 0..<yields { await Task.yield() }
          return try answer(condition, ticket)
        }
      } else {
        Condition(site.name) { try answer(condition, ask(site)) }
      }
    return condition.isNegated ? .not(made) : made
  }

  /// - Returns: A ticket that identifies this evaluation.
  private func ask(_ site: Site) -> Int {
    let ticket = recorder.number()
    recorder.add { .conditionAsked(site.node, site.index, ticket: ticket, isCancelled: $0) }
    return ticket
  }

  private func answer(_ condition: Tree.Condition, _ ticket: Int) throws -> Bool {
    let error: (any Error)? =
      switch condition.answer {
      case .yes, .no: nil
      case .error: NumberedError(number: recorder.number())
      case .cancellation: CancellationError()
      case .skip: Skipped(because: "of a condition")
      }
    let isYes = condition.answer == .yes
    let shown: Entry.ConditionAnswer =
      switch condition.answer {
      case .error: .fails(error.map { ShownError($0) } ?? .cancellation)
      // Without an answer, the negation has no answer either.
      case .cancellation: .skips
      case .yes: condition.isNegated ? .skips : .proceeds
      case .no, .skip: condition.isNegated ? .proceeds : .skips
      }
    recorder.add(.conditionAnswered(ticket: ticket, shown))
    if let error { throw error }
    return isYes
  }
}
