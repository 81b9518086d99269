/// The event of a child flow that has ended, or can be claimed.
package enum ChildEvent {
  private static let prefix = "@child:"

  package static func name(of child: RunID) -> String { prefix + child.text }

  package static func child(of event: String) -> RunID? {
    event.hasPrefix(prefix) ? RunID(String(event.dropFirst(prefix.count))) : nil
  }
}
