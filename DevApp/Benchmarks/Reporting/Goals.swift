extension Goal {
  /// All goals. They hold for the sizes that the shapes have by themselves.
  static let all: [Goal] = []
}
