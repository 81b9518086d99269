/// The terminal that controls this process, with its settings.
package struct ControllingTerminal: Sendable {
  package static let path = "/dev/tty"

  private let settings: termios

  /// Whether this process may read the terminal. It may not in the background of a shell.
  package let isInForeground: Bool

  /// Nil if this process has no controlling terminal.
  package init?() {
    guard let file = try? FileDescriptor.open(Self.path, .readWrite) else { return nil }
    defer { try? file.close() }
    var settings = termios()
    guard unsafe tcgetattr(file.rawValue, &settings) == 0 else { return nil }
    self.settings = settings
    isInForeground = tcgetpgrp(file.rawValue) == getpgrp()
  }

  /// Restores the settings, which a program that did not end regularly may have changed.
  package func restore() {
    guard let file = try? FileDescriptor.open(Self.path, .readWrite) else { return }
    defer { try? file.close() }
    // The system stops a process in the background that sets them.
    guard tcgetpgrp(file.rawValue) == getpgrp() else { return }
    var settings = settings
    unsafe tcsetattr(file.rawValue, TCSADRAIN, &settings)
  }
}
