extension ConditionEvaluation {
  /// Tracks which conditions have begun and ended, and their verdicts.
  struct StateMachine: Sendable {
    typealias Waiter = CheckedContinuation<Void, Never>

    enum EndAction {
      /// The tasks of conditions that no longer matter, to be cancelled, and the waiter to resume.
      case stop([LinkedTask<Void, Never>], Waiter?)
      /// Report the end of the condition, which had been abandoned.
      case report
    }

    private enum Question {
      /// The condition has not begun.
      case waiting
      /// Its child run is being created. The evaluation does not end meanwhile, because a run
      /// creates no child after its end.
      case beginning
      case running
      case ended
      /// The verdict on the condition no longer matters.
      case left
      /// The same, and its child run is being created.
      case leftAtBeginning
    }

    private(set) var verdicts: ConditionVerdicts
    /// The evaluation of each condition; nil if it has no task.
    private var questions: [Question?]
    /// Kept until the evaluation is freed, so that no task is freed under the lock.
    private var tasksByIndex: [LinkedTask<Void, Never>?]
    private var waiter: Waiter?
    private var isCancelled = false

    /// - Parameter count: The number of conditions.
    init(_ verdicts: ConditionVerdicts, count: Int) {
      self.verdicts = verdicts
      questions = Array(repeating: nil, count: count)
      tasksByIndex = Array(repeating: nil, count: count)
    }

    var tasks: [LinkedTask<Void, Never>] { tasksByIndex.compactMap { $0 } }

    private var isOver: Bool { isCancelled || verdicts.isDecided }

    /// Records the task of a condition before it starts.
    ///
    /// - Returns: Whether the condition still matters, so that the task has to start.
    mutating func starts(_ index: Int, _ task: LinkedTask<Void, Never>) -> Bool {
      precondition(questions[index] == nil, "starts: condition \(index) already has a task")
      tasksByIndex[index] = task
      let matters = !isOver && verdicts.matters(index)
      questions[index] = matters ? .waiting : .left
      return matters
    }

    /// - Returns: The waiter itself if there is nothing to wait for.
    mutating func waited(_ waiter: Waiter) -> Waiter? {
      precondition(self.waiter == nil, "waited: the evaluation already has a waiter")
      self.waiter = waiter
      return takeWaiter()
    }

    /// The waiter, if there is nothing to wait for.
    private mutating func takeWaiter() -> Waiter? {
      guard isOver else { return nil }
      for case .beginning? in questions { return nil }
      for case .leftAtBeginning? in questions { return nil }
      return waiter.take()
    }

    /// - Returns: Whether the condition has to be evaluated (O2).
    mutating func began(_ index: Int) -> Bool {
      switch questions[index] {
      case .waiting:
        questions[index] = .beginning
        return true
      case .left: return false
      case nil, .beginning, .running, .ended, .leftAtBeginning:
        preconditionFailure("began: condition \(index) is not waiting")
      }
    }

    /// Records that the child run of a condition has been created.
    ///
    /// - Returns: The waiter, if there is nothing to wait for any more.
    mutating func created(_ index: Int) -> Waiter? {
      switch questions[index] {
      case .beginning: questions[index] = .running
      case .leftAtBeginning: questions[index] = .left
      case nil, .waiting, .running, .ended, .left: return nil
      }
      return takeWaiter()
    }

    mutating func ended(_ index: Int, _ verdict: Verdict) -> EndAction {
      switch questions[index] {
      case .running:
        questions[index] = .ended
        let irrelevant = verdicts.answered(index, verdict)
        if !verdicts.isDecided { return .stop(leave(irrelevant), nil) }
        // The verdict is certain, so no other condition matters.
        return .stop(leave(Array(questions.indices)), takeWaiter())
      case .left: return .report
      case nil, .waiting, .beginning, .ended, .leftAtBeginning:
        preconditionFailure("ended: condition \(index) is not running")
      }
    }

    /// Ends the evaluation because the run was cancelled.
    ///
    /// - Returns: The tasks to cancel, and the waiter if it waits.
    mutating func left() -> (tasks: [LinkedTask<Void, Never>], waiter: Waiter?) {
      isCancelled = true
      return (leave(Array(questions.indices)), takeWaiter())
    }

    /// - Returns: The tasks to cancel.
    private mutating func leave(_ indices: [Int]) -> [LinkedTask<Void, Never>] {
      indices.compactMap { index in
        switch questions[index] {
        case .waiting, .running: questions[index] = .left
        case .beginning: questions[index] = .leftAtBeginning
        case nil, .ended, .left, .leftAtBeginning: return nil
        }
        return tasksByIndex[index]
      }
    }
  }
}
