/// What this program is called: the name of its file, without the folder.
package enum ProgramName {
  package static var current: String {
    let path = CommandLine.arguments.first ?? ""
    return path.split(separator: "/").last.map(String.init) ?? "unknown"
  }
}
