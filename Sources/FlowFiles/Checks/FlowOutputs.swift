extension [FlowStep] {
  /// Reports outputs that two steps, or two children of a step, would write, and outputs in a folder that another step
  /// makes.
  ///
  /// Equal patterns are duplicates, too. For different ones, see ``checkOverlaps(_:in:_:)``.
  ///
  /// - Parameter folder: The folder of the flow file.
  func checkOutputs(
    _ texts: [String: String], in folder: String, _ problems: inout FlowProblems
  ) {
    var eachValues = FlowEachValues(self, texts)
    var paths = FlowPaths(in: folder)
    var owners: [FlowPath: Int32] = [:]
    owners.reserveCapacity(count)
    for (index, step) in enumerated() {
      for output in step.outputs where !output.source.isEmpty {
        let isAbsolute = output.text(texts).utf8.first == UInt8(ascii: "/")
        let hasOwnFolder = !isAbsolute && step.directory?.usesEach == true
        if step.each != nil, !output.usesEach, !hasOwnFolder {
          problems.report(
            output.location,
            "duplicate output \(output.text(texts).shortened) of the children of step "
              + "\(step.name.quoted); use "
              + "'${each\(step.each?.hasColumns == true ? ".NAME" : "")}' in it"
          )
          continue
        }
        for file in eachValues.files(output, of: step, replacesPatterns: false) {
          let path = paths.output(file.pattern, in: file.directory)
          guard let owner = owners.updateValue(Int32(index), forKey: path).map({ Int($0) }) else {
            continue
          }
          owners[path] = Int32(owner)
          let text = output.text(texts, each: file.each).shortened
          problems.report(
            output.location,
            owner == index
              ? "duplicate output \(text) of step \(step.name.quoted)"
              : "duplicate output \(text) of steps \(self[owner].name.quoted) "
                + "and \(step.name.quoted)")
        }
      }
    }
    var folders = OutputFolders(owners)
    let inFolders = owners.filter { folders.owner(of: $0.key.folder, except: $0.value) != nil }
    checkOverlaps(texts, in: folder, &problems)
    if inFolders.isEmpty { return }
    for (index, step) in enumerated() {
      for output in step.outputs {
        for file in eachValues.files(output, of: step, replacesPatterns: false) {
          let path = paths.output(file.pattern, in: file.directory)
          guard inFolders[path] == Int32(index),
            let owner = folders.owner(of: path.folder, except: Int32(index))
          else { continue }
          problems.report(
            output.location,
            "output \(output.text(texts, each: file.each).shortened) of step \(step.name.quoted) is in a folder that "
              + "is an output of step \(self[Int(owner)].name.quoted), so that each of them would change the output of "
              + "the other; name its files there, or let one step make the folder")
        }
      }
    }
  }

  /// For each step with `same-as`, the step that provides the values in the end.
  var eachSources: [String: String] {
    var sources: [String: String] = [:]
    for step in self {
      if case .sameAs(let reference)? = step.each { sources[step.name] = reference.name }
    }
    var ends: [String: String] = [:]
    for start in sources.keys {
      var path: [String] = []
      var name = start
      // A chain of references can have a cycle, which is another problem.
      var seen: Set<String> = []
      while ends[name] == nil, let next = sources[name], seen.insert(name).inserted {
        path.append(name)
        name = next
      }
      let end = ends[name] ?? name
      for member in path { ends[member] = end }
    }
    return ends
  }
}

/// The folders that are outputs of steps.
private struct OutputFolders {
  private let owners: [FlowPath: Int32]
  /// The steps that make a folder, or one above it, the nearest first.
  private var known: [ExactText: [Int32]] = [:]

  init(_ owners: [FlowPath: Int32]) { self.owners = owners }

  /// Returns another step that makes a folder, or one above it.
  mutating func owner(of folder: ExactText, except step: Int32) -> Int32? {
    owners(of: folder).first { $0 != step }
  }

  private mutating func owners(of folder: ExactText) -> [Int32] {
    if let found = known[folder] { return found }
    var (rest, all) = (folder.text, [Int32]())
    while !rest.isEmpty {
      let path = FlowPath(rest)
      if let owner = owners[path] { all.append(owner) }
      rest = path.folder.text
    }
    known[folder] = all
    return all
  }
}

extension String {
  /// The path without `.` and empty names.
  package var normalizedPath: String {
    if isNormalizedPath { return self }
    // By bytes, because a mark that is combined with a slash is a part of the next name.
    let names = pathNames.filter { !$0.elementsEqual(".".utf8) }
    let path = names.map { String($0) ?? "" }.joined(separator: "/")
    return (utf8.first == UInt8(ascii: "/") ? "/" : "") + path
  }

  /// The names of the path. None is empty.
  var pathNames: [Substring.UTF8View] { utf8.split(separator: UInt8(ascii: "/")) }

  /// Whether the path has no name that is `.` or empty. Most paths have none.
  private var isNormalizedPath: Bool {
    var count = 0
    var isDot = false
    for (index, byte) in utf8.enumerated() {
      guard byte == UInt8(ascii: "/") else {
        isDot = count == 0 && byte == UInt8(ascii: ".")
        count += 1
        continue
      }
      if isDot || count == 0 && index > 0 { return false }
      count = 0
    }
    return count > 0 && !isDot
  }

  /// The text for messages, without quotes.
  fileprivate var shortened: String { String(quoted.dropFirst().dropLast()) }
}
