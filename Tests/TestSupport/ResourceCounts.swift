internal import Foundation

/// The numbers of open descriptors and zombies of this process, from `/proc`.
public struct ResourceCounts: Equatable {
  public let descriptors: Int
  public let zombies: Int

  public static var now: ResourceCounts {
    get throws {
      let folder = FileManager.default
      let open = try folder.contentsOfDirectory(atPath: "/proc/self/fd").count
      let own = ProcessInfo.processInfo.processIdentifier
      let zombies = try folder.contentsOfDirectory(atPath: "/proc").filter { name in
        guard Int32(name) != nil,
          let line = try? String(contentsOfFile: "/proc/\(name)/stat", encoding: .utf8)
        else { return false }
        let fields = line.split(separator: ")").last?.split(separator: " ") ?? []
        return fields.count > 1 && fields[0] == "Z" && fields[1] == "\(own)"
      }
      return ResourceCounts(descriptors: open, zombies: zombies.count)
    }
  }
}
