/// The file name of the running program, without its folder.
package enum ProgramName {
  package static var current: String {
    let path = CommandLine.arguments.first ?? ""
    return path.split(separator: "/").last.map(String.init) ?? "unknown"
  }
}
