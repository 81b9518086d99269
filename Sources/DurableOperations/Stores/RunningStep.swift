/// A step that a run performs.
package struct RunningStep: Sendable {
  /// The number of finished steps before it.
  package let position: Int
  /// The name of its operation.
  package let name: String
  /// When it began, in milliseconds since the beginning of 1970, UTC.
  package let began: Int64

  package init(position: Int, name: String, began: Int64) {
    (self.position, self.name, self.began) = (position, name, began)
  }
}
