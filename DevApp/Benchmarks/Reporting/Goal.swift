/// What one of our ways is to reach in one shape, by itself or beside another way.
struct Goal: Sendable {
  enum Bound: Sendable {
    /// The other way's figure is at least so many times ours.
    case atLeastTimes(Double)
    /// Our figure is at most so many times the other way's.
    case atMostTimes(Double)
    /// Our figure is at most so much above the other way's, in the shape's unit.
    case atMostMore(Double)
    /// Our figure is at most this, in the shape's unit.
    case atMost(Double)
  }

  let shape: String
  let ours: String
  /// The other way's name or how it begins; nil where ours is judged by itself.
  let other: String?
  let bound: Bound
  /// Why it is missed, where it has been; the README says more.
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
