internal import Synchronization

extension SourceRun {
  /// A child that the puller runs, and the place for its result.
  struct Begun {
    let child: any ComposableOperation
    let index: Int
    let place: SlotBlocks.Place
  }

  /// Takes the next child.
  ///
  /// - Parameter own: The puller's own slot, if results are consumed.
  nonisolated(nonsending) func begin(
    _ own: SlotBlocks.Place?, as task: UnsafeCurrentTask
  ) async throws -> Begun? {
    do {
      return try await source.next(
        ifWanted: { unsafe !isStopped && !task.isCancelled },
        take: { child in
          let index = begun.wrappingAdd(1, ordering: .relaxed).oldValue
          switch results {
          case .kept(let blocks): return Begun(child: child, index: index, place: blocks.add())
          case .consumed: return own.map { Begun(child: child, index: index, place: $0) }
          }
        })
    } catch {
      // The task was cancelled, from outside or by a sibling, and the source only reacted to that.
      if unsafe task.isCancelled {
        record.withLock { $0.isCutShort = true }
        return nil
      }
      record.withLock { $0.sourceError = error }
      if goal == .everyEnd { return nil }
      stop()
      throw Stop()
    }
  }

  /// Runs a child and records how it ended.
  ///
  /// - Returns: Whether the run must stop.
  nonisolated(nonsending) func run(
    _ begun: Begun, in context: OperationContext, as task: UnsafeCurrentTask
  ) async -> Bool {
    if context.scope?.isObserved == true {
      return await unsafe attend(begun, in: context, as: task)
    }
    let cleanup: Cleanup?
    do {
      cleanup = try await begun.child.perform(into: begun.place.slot, in: context)
    } catch {
      return lost(begun, with: error, wasCancelled: unsafe task.isCancelled)
    }
    if unsafe task.isCancelled { return lostLate(begun, cleanup) }
    return await unsafe succeeded(begun, cleanup, as: task)
  }

  /// Runs an observed child, which reports its own events, and records how it ended.
  private nonisolated(nonsending) func attend(
    _ begun: Begun, in context: OperationContext, as task: UnsafeCurrentTask
  ) async -> Bool {
    let completion = await begun.child.completeAsChild(into: begun.place.slot, in: context)
    let state = ChildState(of: completion)
    return state == .result
      ? await unsafe succeeded(begun, completion.cleanup, as: task)
      : lost(begun, in: state, completion.error)
  }

  private nonisolated(nonsending) func succeeded(
    _ begun: Begun, _ cleanup: Cleanup?, as task: UnsafeCurrentTask
  ) async -> Bool {
    switch results {
    case .kept:
      begun.place.note(.result)
      if let cleanup { record.withLock { $0.cleanups[begun.index] = cleanup } }
      return false
    case .consumed(let consume, _, _):
      return await unsafe self.consume(begun, cleanup, by: consume, as: task)
    }
  }

  /// Passes a result to the consumer, after the results that ended before it.
  private nonisolated(nonsending) func consume(
    _ begun: Begun, _ cleanup: Cleanup?, by consume: Consumer, as task: UnsafeCurrentTask
  ) async -> Bool {
    await consumption.acquireIgnoringCancellation()
    defer { consumption.release() }
    if unsafe isStopped || task.isCancelled { return lostLate(begun, cleanup) }
    do {
      try await consume(begun.place.slot)
      return false
    } catch {
      return lost(begun, with: error, wasCancelled: unsafe task.isCancelled)
    }
  }

  /// Records a result that came after the cancellation, and discards it.
  private func lostLate(_ begun: Begun, _ cleanup: Cleanup?) -> Bool {
    cleanup?()
    return lost(begun, in: .lateResult)
  }

  private func lost(_ begun: Begun, with error: any Error, wasCancelled: Bool) -> Bool {
    let state = ChildState(endedBy: error, wasCancelled: wasCancelled)
    return lost(begun, in: state, state == .error ? error : nil)
  }

  private func lost(_ begun: Begun, in state: ChildState, _ error: (any Error)? = nil) -> Bool {
    begun.place.note(state)
    if state.hasValue, case .consumed(_, let drop, _) = results { drop(begun.place.slot) }
    let loss = Loss(
      index: begun.index, name: begun.child.operationName, state: state, error: error)
    record.withLock { $0.losses.append(loss) }
    guard goal == .everyResult else { return false }
    stop()
    return true
  }
}
