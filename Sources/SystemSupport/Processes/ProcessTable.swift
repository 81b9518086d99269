internal import CProcesses

/// A process, as the system lists it.
package struct ListedProcess: Hashable, Sendable {
  package let process: Int32
  package let parent: Int32
  /// The leader of its group.
  package let group: Int32
  /// The leader of its session.
  package let session: Int32
  /// When it began, in clock ticks since the system was booted.
  package let began: Int64
  /// Whether it has ended, and its parent has not noticed yet.
  package let isZombie: Bool

  fileprivate init(_ entry: process_entry) {
    (process, parent) = (entry.process, entry.parent)
    (group, session) = (entry.group, entry.session)
    (began, isZombie) = (entry.began, entry.has_ended)
  }
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
    var entries = [process_entry](repeating: process_entry(), count: 512)
    while true {
      let count = unsafe process_list(&entries, entries.count)
      if count <= entries.count { return entries.prefix(count).map { ListedProcess($0) } }
      // Others may begin meanwhile.
      entries = Array(repeating: process_entry(), count: count + 512)
    }
  }

  /// Returns a process; nil if it does not exist.
  package static func listed(_ process: Int32) -> ListedProcess? {
    var entry = process_entry()
    return unsafe process_read_entry(process, &entry) == 0 ? ListedProcess(entry) : nil
  }

  /// Returns the value of a variable in the environment with which a process began; nil if there is
  /// none, or if this process may not read it.
  package static func variable(_ name: String, of process: Int32) -> String? {
    let bytes = try? FileDescriptor.contents(ofFile: "/proc/\(process)/environ")
    let start = Array("\(name)=".utf8)
    let variable = bytes?.split(separator: 0).first { $0.starts(with: start) }
    return variable.map { String(decoding: $0.dropFirst(start.count), as: UTF8.self) }
  }

  /// Returns the file name of the program that a process runs, as ``SystemProcess/programName``; nil if the process
  /// does not exist.
  package static func programName(of process: Int32) -> String? {
    let arguments = try? FileDescriptor.contents(ofFile: "/proc/\(process)/cmdline")
    let name = arguments?.prefix { $0 != 0 }.split(separator: UInt8(ascii: "/")).last
    return name.map { String(decoding: $0, as: UTF8.self) }
  }

  /// The present time, as ``ListedProcess/began``.
  package static var now: Int64 { process_now() }

  /// Sets whether this process becomes the parent of all descendants whose parent ends from now on. Linux
  /// only.
  package static func adoptOrphans(_ adopts: Bool) { _ = process_adopt(adopts ? 1 : 0) }
}
