package import DurableOperations

/// An action on a run, which is a part of its address.
package enum RunAction: String, CaseIterable, Sendable {
  case cancel, retry, send, forget

  /// The states of the runs that the action is for, if a person selects runs without a state.
  package var states: [RunState] {
    switch self {
    case .cancel: RunState.allCases.filter { !$0.hasEnded }
    case .retry: [.error, .stuck]
    case .forget: RunState.allCases.filter(\.hasEnded)
    case .send: []
    }
  }

  /// The actions that a person can do for all runs of a list.
  static let ofLists = allCases.filter { !$0.states.isEmpty }

  /// Whether it can change a run in a state.
  func applies(to state: RunState) -> Bool {
    switch self {
    case .cancel, .send: !state.hasEnded
    case .retry: state.hasEnded || state == .stuck || state == .parked
    case .forget: state.hasEnded
    }
  }
}
