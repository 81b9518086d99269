internal import Foundation
internal import SystemSupport

/// The names of the files beside a destination: `NAME.partial`, and those that begin with it.
enum PartialFileName {
  /// The longest end of a name, which the record has.
  private static let record = ".partial.json"

  /// The path of the partial file. The name of a destination may be as long as the system allows;
  /// then the end of it is replaced by a hash of the whole name.
  static func path(of path: String) -> String {
    let (folder, name) = path.splitPath
    let longest = longestName(in: folder)
    let limit = longest - record.utf8.count
    // A name that is too long is an error of the system.
    if name.utf8.count <= limit || name.utf8.count > longest { return path + ".partial" }
    let end = "-" + String(Array(name.utf8).hash64, radix: 16)
    var start = Substring(name)
    while !start.isEmpty, start.utf8.count + end.utf8.count > limit { start.removeLast() }
    return folder.path(of: start + end + ".partial")
  }

  private static func longestName(in folder: String) -> Int {
    let limit = unsafe pathconf(folder, Int32(_PC_NAME_MAX))
    return limit > 0 ? limit : 255
  }
}
