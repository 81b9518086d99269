internal import Synchronization

extension SourceRun {
  /// A child that a puller runs, and the place for its result.
  struct Begun: Sendable {
    let child: any ComposableOperation
    let index: Int
    let place: SlotBlocks.Place
    /// Discards the result, if the child has ended in one.
    var cleanup: Cleanup?
  }

  /// What a puller does after the end of its child.
  enum Action {
    case proceed
    /// It has left its place with the result to another puller.
    case proceedInNewPlace
    /// It consumes the result.
    case consume
    case stop
  }

  // MARK: Taking children

  /// Takes the next child.
  ///
  /// - Parameters:
  ///   - place: Initialized with the child, if there is one.
  ///   - own: The puller's own place for results, if they are consumed.
  /// - Returns: Whether there is one; false if no child is left or needed.
  @inline(__always) nonisolated(nonsending) func begin(
    at place: UnsafeMutablePointer<Begun>, _ own: SlotBlocks.Place?, as task: UnsafeCurrentTask
  ) async throws -> Bool {
    if let isBegun = unsafe beginNow(at: place, own, as: task) { return isBegun }
    return try await unsafe beginLater(at: place, own, as: task)
  }

  // Not inlined, as other functions here: their temporaries would be in the frame of the puller.
  @inline(never) private func beginNow(
    at place: UnsafeMutablePointer<Begun>, _ own: SlotBlocks.Place?, as task: UnsafeCurrentTask
  ) -> Bool? {
    source.takeNow(
      ifWanted: { unsafe isWanted(by: task) }, take: { unsafe begin($0, at: place, own) })
  }

  @inline(never) private nonisolated(nonsending) func beginLater(
    at place: UnsafeMutablePointer<Begun>, _ own: SlotBlocks.Place?, as task: UnsafeCurrentTask
  ) async throws -> Bool {
    do {
      return try await source.next(
        ifWanted: { unsafe isWanted(by: task) }, take: { unsafe begin($0, at: place, own) })
    } catch {
      // The task was cancelled, from outside or by a sibling, and the source only reacted to that.
      if unsafe task.isCancelled {
        record.withLock { $0.isCutShort = true }
        return false
      }
      record.withLock { $0.sourceError = error }
      if goal == .everyEnd { return false }
      stop()
      throw Stop()
    }
  }

  private func isWanted(by task: UnsafeCurrentTask) -> Bool {
    unsafe !isStopped && !task.isCancelled
  }

  private func begin(
    _ child: any ComposableOperation, at place: UnsafeMutablePointer<Begun>,
    _ own: SlotBlocks.Place?
  ) {
    let index = begun.wrappingAdd(1, ordering: .relaxed).oldValue
    let slot: SlotBlocks.Place
    switch results {
    case .kept(let blocks): slot = blocks.add()
    case .consumed:
      guard let own else { preconditionFailure("the puller has no place for its results") }
      slot = own
    }
    unsafe place.initialize(to: Begun(child: child, index: index, place: slot))
  }

  // MARK: Ends of children

  /// Runs an observed child, which reports its own events, and records how it ended.
  @inline(never) nonisolated(nonsending) func attend(
    _ place: UnsafeMutablePointer<Begun>, in context: OperationContext
  ) async -> Action {
    let completion = await unsafe place.pointee.child.completeAsChild(
      into: place.pointee.place.slot, in: context)
    let state = ChildState(of: completion)
    if state != .result { return unsafe lost(place.pointee, in: state, completion.error) }
    unsafe place.pointee.cleanup = completion.cleanup
    return unsafe gained(place)
  }

  /// Records a result that came in time.
  @inline(never) func gained(_ place: UnsafeMutablePointer<Begun>) -> Action {
    guard let consumption = results.consumption else {
      unsafe place.pointee.place.note(.result)
      if let cleanup = unsafe place.pointee.cleanup {
        let index = unsafe place.pointee.index
        record.withLock { $0.cleanups[index] = cleanup }
      }
      source.childEnded?()
      return .proceed
    }
    return unsafe consumption.add(place.pointee) ? .consume : .proceedInNewPlace
  }

  /// Records a result that came after the cancellation, and discards it.
  @inline(never) func lostLate(_ begun: Begun) -> Action {
    begun.cleanup?()
    return lost(begun, in: .lateResult)
  }

  @inline(never) func lost(_ begun: Begun, with error: any Error, wasCancelled: Bool) -> Action {
    let state = ChildState(endedBy: error, wasCancelled: wasCancelled)
    return lost(begun, in: state, state == .error ? error : nil)
  }

  private func lost(_ begun: Begun, in state: ChildState, _ error: (any Error)? = nil) -> Action {
    begun.place.note(state)
    if state.hasValue { results.consumption?.drop(begun.place.slot) }
    let loss = Loss(
      index: begun.index, name: begun.child.operationName, state: state, error: error)
    record.withLock { $0.losses.append(loss) }
    source.childEnded?()
    guard goal == .everyResult else { return .proceed }
    stop()
    return .stop
  }
}

// MARK: - Consuming results

extension SourceRun {
  /// Waits for a place for the results of a puller; nil if results are kept, each in its own place.
  @inline(never) nonisolated(nonsending) func ownPlace() async -> SlotBlocks.Place? {
    guard let consumption = results.consumption else { return nil }
    return await consumption.takePlace()
  }

  @inline(never) func leave(_ place: SlotBlocks.Place?) {
    if let place { results.consumption?.leave(place) }
  }

  /// Consumes the result of a puller, and then those that other pullers have left to it.
  ///
  /// - Parameters:
  ///   - place: The child with the result. Uninitialized after that.
  ///   - own: The puller's own place. It is free as soon as the puller's result has been consumed. If
  ///     there is another result, the puller frees it and gets the place of that result.
  /// - Returns: What the puller does next.
  @inline(never) nonisolated(nonsending) func consume(
    at place: UnsafeMutablePointer<Begun>, _ own: inout SlotBlocks.Place?,
    _ slice: inout TimeSlice, _ pace: inout SamplingInterval, as task: UnsafeCurrentTask
  ) async -> Action {
    guard let consumption = results.consumption else {
      preconditionFailure("the results are kept")
    }
    var action = await unsafe consume(at: place, by: consumption, as: task)
    while unsafe consumption.next(at: place) {
      leave(own)
      own = unsafe place.pointee.place
      let next =
        if unsafe task.isCancelled, !isStopped, !isCancelled {
          // The consumer has cancelled its own task. That does not concern the other results.
          await consumeElsewhere(unsafe place.move(), by: consumption)
        } else {
          await unsafe consume(at: place, by: consumption, as: task)
        }
      if next == .stop { action = .stop }
      if pace.isTimeToLook() { await lookAround(&slice, &pace) }
    }
    return action
  }

  @inline(__always) private nonisolated(nonsending) func consume(
    at place: UnsafeMutablePointer<Begun>, by consumption: Consumption, as task: UnsafeCurrentTask
  ) async -> Action {
    defer { unsafe place.deinitialize(count: 1) }
    if unsafe !isWanted(by: task) { return unsafe lostLate(place.pointee) }
    do {
      try await unsafe consumption.consume(place.pointee.place.slot)
      source.childEnded?()
      return .proceed
    } catch {
      return unsafe lost(place.pointee, with: error, wasCancelled: task.isCancelled)
    }
  }

  /// Consumes a result in a task that is cancelled only with the run.
  private nonisolated(nonsending) func consumeElsewhere(
    _ begun: Begun, by consumption: Consumption
  ) async -> Action {
    await runInSubstitute { [self] in
      let place = UnsafeMutablePointer<Begun>.allocate(capacity: 1)
      defer { unsafe place.deallocate() }
      unsafe place.initialize(to: begun)
      return await unsafe consume(at: place, by: consumption, as: UnsafeCurrentTask.own)
    }
  }
}
