import CompositeOperations
import DurableOperations
import Foundation
import SystemSupport

/// A flow that adds the results of child flows, which any worker can run.
struct ClusterSum: DurableSequence {
  /// Precedes the names of the children.
  let name: String
  let count: Int
  /// The file to which each step appends a line when it begins; nil for none.
  let log: String?

  init(name: String, count: Int, log: String? = nil) {
    self.name = name
    self.count = count
    self.log = log
  }

  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    if previous != nil { return nil }
    let parts = (0..<count).map { number in
      ChildFlow(ClusterPart(number: number, log: log), named: RunID("\(name)-\(number)"))
    }
    return ParallelOperation(parts).named("add the parts")
  }

  func output(of steps: FinishedSteps) -> Int {
    steps.last?.result(as: [Int].self)?.reduce(0, +) ?? 0
  }
}

/// A child flow of three steps with simulated work.
struct ClusterPart: DurableSequence {
  static let stepCount = 3

  let number: Int
  let log: String?
  private var sum = 0

  init(number: Int, log: String?) {
    self.number = number
    self.log = log
  }

  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    sum += previous?.result(of: SimulatedWork.self) ?? 0
    let step = (previous?.index ?? -1) + 1
    return step < Self.stepCount && previous?.outcome.error == nil
      ? SimulatedWork(part: number, step: step, log: log) : nil
  }

  func output(of steps: FinishedSteps) -> Int { sum }
}

/// A step that takes 50 to 200 ms, and returns a number that depends on the part and the step.
struct SimulatedWork: ComposableOperation {
  let part: Int
  let step: Int
  let log: String?

  var operationName: String { "work \(step)" }

  func perform(in context: OperationContext) async throws -> Int {
    if let log { try BegunStep(part: part, step: step).append(to: log) }
    let mixed = (part * 31 + step * 17 + 7) * 2_654_435_761 >> 8 & 0xFFFF
    try await Task.sleep(for: .milliseconds(50 + mixed % 151))
    return mixed
  }
}

/// The beginning of a step, as a line of the log: when and in which process.
struct BegunStep: Sendable {
  let part: Int
  let step: Int
  let process: Int32
  let date: Date

  init(part: Int, step: Int) {
    self.part = part
    self.step = step
    process = ProcessInfo.processInfo.processIdentifier
    date = Date()
  }

  private init?(_ line: Substring) {
    let words = line.split(separator: " ")
    guard words.count == 4, let part = Int(words[0]), let step = Int(words[1]),
      let process = Int32(words[2]), let seconds = Double(words[3])
    else { return nil }
    self.part = part
    self.step = step
    self.process = process
    date = Date(timeIntervalSince1970: seconds)
  }

  /// Appends the line in one write, so that lines of several processes do not mix.
  func append(to path: String) throws {
    let line = "\(part) \(step) \(process) \(date.timeIntervalSince1970)\n"
    let file = try FileDescriptor.open(path, .writeOnly, .append)
    defer { try? file.close() }
    try file.write(Array(line.utf8), brokenPipe: .error)
  }

  /// Returns the lines of a log, in the order in which they were appended.
  static func all(in path: String) throws -> [BegunStep] {
    try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
      .compactMap { BegunStep($0) }
  }
}
