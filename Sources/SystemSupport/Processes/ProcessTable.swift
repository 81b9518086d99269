/// A process, as the system lists it.
package struct ListedProcess: Sendable {
  package let process: Int32
  /// The leader of its group.
  package let group: Int32
  /// The leader of its session.
  package let session: Int32
  /// When it began, in clock ticks since the system was booted.
  package let began: Int64
  /// Whether it has ended, and its parent has not noticed yet.
  package let isZombie: Bool
}

/// The processes of the system. Only Linux lists them; elsewhere the table is empty.
package enum ProcessTable {
  /// Identifies the time since the system was booted; empty if it is unknown.
  package static let boot: String = {
    let bytes = try? FileDescriptor.contents(ofFile: "/proc/sys/kernel/random/boot_id")
    return String(decoding: (bytes ?? []).filter { $0 > 0x20 }, as: UTF8.self)
  }()

  /// All processes that this process may see.
  package static var all: [ListedProcess] {
    var processes: [ListedProcess] = []
    guard let folder = try? OpenFolder("/proc", followingLink: true) else { return [] }
    defer { folder.close() }
    try? folder.forEachName { name, _ in
      guard let process = Int32(name.text) else { return }
      if let listed = listed(process) { processes.append(listed) }
    }
    return processes
  }

  /// Returns a process; nil if it does not exist.
  package static func listed(_ process: Int32) -> ListedProcess? {
    guard let bytes = try? FileDescriptor.contents(ofFile: "/proc/\(process)/stat") else {
      return nil
    }
    // The name of the program, in parentheses, can contain spaces and parentheses.
    guard let end = bytes.lastIndex(of: UInt8(ascii: ")")) else { return nil }
    let fields = bytes[(end + 1)...].split(separator: UInt8(ascii: " "))
      .map { String(decoding: $0, as: UTF8.self) }
    guard fields.count > 19, let group = Int32(fields[2]), let session = Int32(fields[3]),
      let began = Int64(fields[19])
    else { return nil }
    return ListedProcess(
      process: process, group: group, session: session, began: began,
      isZombie: fields[0] == "Z" || fields[0] == "X")
  }

  /// Whether the environment with which a process began has a variable. False if this process may
  /// not read it.
  package static func hasVariable(_ variable: String, _ process: Int32) -> Bool {
    guard let bytes = try? FileDescriptor.contents(ofFile: "/proc/\(process)/environ") else {
      return false
    }
    let text = Array(variable.utf8)
    return bytes.split(separator: 0).contains { $0.elementsEqual(text) }
  }
}
