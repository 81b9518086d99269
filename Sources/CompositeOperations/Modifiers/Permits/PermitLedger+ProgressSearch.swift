extension PermitLedger {
  /// Searches for a proof that the requests in a queue are eventually admitted.
  ///
  /// A queue is proven if enough of its permits are left, held by runs that do not wait, or held
  /// above requests in queues that have been proven before. Queues that requests take from together
  /// are proven together: the first one of all these requests is the first in each of them.
  // An explicit stack replaces recursion, because chains of queues can be long.
  struct ProgressSearch {
    enum Conclusion {
      /// The search has not finished with it. Until it is proven, it proves nothing.
      case open
      case proven
      case unproven
    }

    private enum Finding {
      case proven
      case unproven
      /// The result depends on a queue that has not been searched.
      case depends(on: Kind)
    }

    private struct Frame {
      /// The kinds that are proven together.
      let kinds: [Kind]
      /// For how many of them enough permits come back.
      var provenCount = 0
      /// The state of the search for the next one; nil before it is examined.
      var quest: Quest?
    }

    /// A search for blocked holds of a kind that will end.
    private struct Quest {
      /// How many permits must come back from blocked holds.
      var missing: Int
      var nextHold: LinkedList<BlockedHold>.Place?
      /// How many permits the hold that is being examined gives back.
      var number = 0
      /// The requests below that hold whose queues have not been examined.
      var requests: [Request] = []
    }

    let number: Int
    private(set) var steps = 0

    init(number: Int) { self.number = number }

    /// - Complexity: O(*kinds, blocked holds and requests below them that it depends on*).
    mutating func isProven(_ kind: Kind) -> Bool {
      var stack = [begin(with: kind)]
      while let top = stack.indices.last {
        switch advance(&stack[top]) {
        case .depends(let other): stack.append(begin(with: other))
        case .proven: end(stack.removeLast(), .proven)
        case .unproven: end(stack.removeLast(), .unproven)
        }
      }
      return kind.verdict == .proven
    }

    private func begin(with kind: Kind) -> Frame {
      var kinds: [Kind] = []
      var found = [kind]
      while let next = found.popLast() {
        if next.search == number { continue }
        next.search = number
        next.verdict = .open
        kinds.append(next)
        found += next.companions
      }
      return Frame(kinds: kinds)
    }

    private func end(_ frame: Frame, _ verdict: Conclusion) {
      for kind in frame.kinds { kind.verdict = verdict }
    }

    private mutating func advance(_ frame: inout Frame) -> Finding {
      while frame.provenCount < frame.kinds.count {
        steps += 1
        let kind = frame.kinds[frame.provenCount]
        guard var quest = frame.quest else {
          frame.quest = Quest(missing: kind.missingNumber, nextHold: kind.blockedHolds.first)
          continue
        }
        if quest.missing <= 0 {
          frame.provenCount += 1
          frame.quest = nil
          continue
        }
        if let request = quest.requests.last {
          // Any queue of the request will do: those that it takes from together are proven
          // together.
          let queue = request.entries[0].kind
          if queue.search != number { return .depends(on: queue) }
          if queue.verdict == .proven {
            quest.requests.removeLast()
            if quest.requests.isEmpty { quest.missing -= quest.number }
          } else {
            quest.requests = []
          }
        } else if let place = quest.nextHold {
          let (hold, next) = kind.blockedHolds.entry(at: place)
          quest.nextHold = next
          quest.number = hold.shares.first { $0.kind === kind }?.number ?? 0
          quest.requests = hold.allRequests
          steps += quest.requests.count
        } else {
          return .unproven
        }
        frame.quest = quest
      }
      return .proven
    }
  }
}
