/// The event of a child flow that has ended, or can be claimed.
enum ChildEvent {
  private static let prefix = "@child:"

  static func name(of child: RunID) -> String { prefix + child.text }

  static func child(of event: String) -> RunID? {
    event.hasPrefix(prefix) ? RunID(String(event.dropFirst(prefix.count))) : nil
  }
}
