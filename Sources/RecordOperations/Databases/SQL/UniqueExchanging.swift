/// The record that has a unique value which another save needs.
package struct UniqueHolder: Hashable, Sendable {
  package let id: RecordID
  /// The fields of the UNIQUE constraint.
  package let columns: [String]

  package init(id: RecordID, columns: [String]) {
    self.id = id
    self.columns = columns
  }
}

/// The result of one save during an exchange.
package enum UniqueAttempt<Outcome> {
  case saved(Outcome)
  /// The database refuses the save. The holder is nil if no unique value is the reason.
  case refused(RecordError, holder: UniqueHolder?)
  /// The save has not changed the values that were set aside, so the record keeps them.
  case stays
}

/// Saves records that take unique values from one another, also in a cycle.
///
/// Databases check UNIQUE constraints with each row. So the record that has the value which a save needs is first
/// given another value, if it is to be saved, too.
package protocol UniqueExchanging {
  associatedtype Outcome

  /// Saves a record. A refused save has no effect.
  mutating func attempt(_ id: RecordID) throws -> UniqueAttempt<Outcome>

  /// Gives a record another value in a column that its save sets.
  ///
  /// - Parameter number: A number that is different for each value that is set aside.
  /// - Returns: False, without a change, if its save does not set one of the columns, or if the database does not
  ///   accept another value.
  mutating func setAside(_ holder: UniqueHolder, number: Int) throws -> Bool

  /// Runs a body, and undoes all of its changes if it throws.
  mutating func savepoint<Result>(_ body: (inout Self) throws -> Result) throws -> Result
}

/// An exchange that is impossible, with the records that cannot be saved.
private struct ImpossibleExchange: Error {
  var errors: [RecordID: RecordError]
  var staying: RecordID?
}

extension UniqueExchanging {
  /// Saves a record, and with it those that have the unique values which it needs.
  ///
  /// - Returns: The results of the record, and of all others that were saved or are known to be refused.
  package mutating func settle(
    _ first: RecordID
  ) throws -> [RecordID: Result<Outcome, RecordError>] {
    var settled: [RecordID: Result<Outcome, RecordError>] = [:]
    var staying: Set<RecordID> = []
    while settled[first] == nil {
      do {
        let outcomes = try savepoint { exchange in
          try exchange.run(from: first) { settled[$0] == nil && !staying.contains($0) }
        }
        settled.merge(outcomes.mapValues { .success($0) }) { $1 }
      } catch let impossible as ImpossibleExchange {
        // Others may still be possible without these.
        settled.merge(impossible.errors.mapValues { .failure($0) }) { $1 }
        if let id = impossible.staying { staying.insert(id) }
      }
    }
    return settled
  }

  /// - Throws: An ``ImpossibleExchange``; the errors of the exchange.
  private mutating func run(
    from first: RecordID, where isPossible: (RecordID) -> Bool
  ) throws -> [RecordID: Outcome] {
    var members = [first]
    // The record whose save needs the value of a member.
    var takers: [RecordID: RecordID] = [:]
    var refusals: [RecordID: RecordError] = [:]
    var tried: Set<UniqueHolder> = []
    var outcomes: [RecordID: Outcome] = [:]
    while outcomes.count < members.count {
      let id = members[outcomes.count]
      var loser: RecordID? = id
      var staying: RecordID?
      switch try attempt(id) {
      case .saved(let outcome):
        outcomes[id] = outcome
        continue
      // Its own save says so, when it has its values.
      case .refused(_, holder: nil) where takers[id] != nil: (staying, loser) = (id, takers[id])
      case .refused(let error, let holder):
        if let holder, isPossible(holder.id), outcomes[holder.id] == nil,
          tried.insert(holder).inserted, try setAside(holder, number: tried.count)
        {
          refusals[id] = error
          if takers.updateValue(takers[holder.id] ?? id, forKey: holder.id) == nil {
            members.append(holder.id)
          }
          continue
        }
        // Both need the same value. The member that has taken it from another record gives way.
        if let holder, outcomes[holder.id] != nil, refusals[holder.id] != nil {
          loser = holder.id
        } else {
          refusals[id] = error
        }
      case .stays: (staying, loser) = (id, takers[id])
      }
      var errors: [RecordID: RecordError] = [:]
      while let id = loser {
        errors[id] = refusals[id]
        loser = takers[id]
      }
      throw ImpossibleExchange(errors: errors, staying: staying)
    }
    return outcomes
  }
}
