/// A goal for a way of this package in a shape, either absolute or relative to another way.
struct Goal: Sendable {
  enum Bound: Sendable {
    /// The other way's figure is at least this many times ours, or ours the other's if it is a rate.
    case atLeastTimes(Double)
    /// Our figure is at most this many times the other way's.
    case atMostTimes(Double)
    /// Our figure is at most this, in the unit of the shape.
    case atMost(Double)
  }

  let shape: String
  let ours: String
  /// The other way's name; nil for an absolute goal.
  let other: String?
  let bound: Bound
  /// Why the goal has been missed; the README says more.
  let obstacle: String?

  init(
    _ shape: String, _ ours: String, beside other: String? = nil, _ bound: Bound,
    obstacle: String? = nil
  ) {
    self.shape = shape
    self.ours = ours
    self.other = other
    self.bound = bound
    self.obstacle = obstacle
  }
}
