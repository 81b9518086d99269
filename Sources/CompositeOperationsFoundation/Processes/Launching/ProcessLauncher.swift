internal import CProcesses
internal import SystemSupport

/// Starts the program of an operation, with its standard streams.
struct ProcessLauncher {
  let configuration: ProcessConfiguration

  /// A program that has been started, and this process's ends of its pipes.
  struct Launched: ~Copyable {
    let identifier: Int32
    var input: OwnedFileDescriptor?
    var output: OwnedFileDescriptor?
    var errorOutput: OwnedFileDescriptor?
  }

  /// One of the standard streams of the program.
  private struct Stream: ~Copyable {
    /// The stream for the program: a descriptor, or a constant of the C functions.
    let place: Int32
    /// The descriptor for the program; nil if `place` is a constant.
    let theirs: OwnedFileDescriptor?
    /// This process's end of a pipe.
    var ours: OwnedFileDescriptor?

    init(constant: Int32) {
      place = constant
      theirs = nil
      ours = nil
    }

    init(theirs: consuming OwnedFileDescriptor, ours: consuming OwnedFileDescriptor? = nil) {
      place = theirs.descriptor.rawValue
      self.theirs = consume theirs
      self.ours = consume ours
    }
  }

  /// - Throws: ``ProcessLaunchError``. No program runs then, and no descriptor is open.
  func launch() throws(ProcessLaunchError) -> Launched {
    try checkTexts()
    let lookup = ProgramLookup(configuration: configuration)
    let file: String
    do { file = try lookup.file() } catch { throw lookup.folderProblem ?? error }
    var input = try inputStream()
    var output = try outputStream(configuration.output)
    var errorOutput =
      configuration.isMerged
      ? Stream(constant: Int32(process_stream_as_output))
      : try outputStream(configuration.errorOutput)
    let plan = Plan(
      file: file, configuration: configuration, input: input.place, output: output.place,
      errorOutput: errorOutput.place)
    switch AdoptedProcesses.starting(plan.spawn) {
    case .success(let identifier):
      // Only now, because a launch may be tried again.
      configuration.closePipeEnds()
      return Launched(
        identifier: identifier, input: input.ours.take(), output: output.ours.take(),
        errorOutput: errorOutput.ours.take())
    case .failure(let failure): throw lookup.problem(with: file, failure)
    }
  }

  private func inputStream() throws(ProcessLaunchError) -> Stream {
    switch configuration.input.kind {
    case .nothing: return Stream(constant: Int32(process_stream_null))
    case .inherited: return Stream(constant: Int32(process_stream_inherited))
    case .bytes, .stream: return try pipe(process_own_writer)
    case .pipe(let end): return Stream(constant: end.number)
    case .file(let path):
      let file = open(path, process_access_read)
      switch file {
      case .success(let number): return Stream(theirs: owned(number))
      case .failure(let failure): throw ProcessLaunchError(configuration, .input(path, failure))
      }
    }
  }

  private func outputStream(_ output: OutputConfiguration) throws(ProcessLaunchError) -> Stream {
    switch output.destination.kind {
    case .whole, .kept: return try pipe(process_own_reader)
    case .discarded: return Stream(constant: Int32(process_stream_null))
    case .inherited: return Stream(constant: Int32(process_stream_inherited))
    case .pipe(let end): return Stream(constant: end.number)
    case .file(let path, let isAppended):
      switch open(path, isAppended ? process_access_append : process_access_replace) {
      case .success(let number): return Stream(theirs: owned(number))
      case .failure(let failure): throw ProcessLaunchError(configuration, .output(path, failure))
      }
    }
  }

  private func pipe(_ own: process_own_end) throws(ProcessLaunchError) -> Stream {
    var ends: [Int32] = [-1, -1]
    let error = unsafe process_pipe(&ends, own)
    if error != 0 { throw ProcessLaunchError(configuration, .system(.init(code: error))) }
    let (ours, theirs) = own == process_own_reader ? (ends[0], ends[1]) : (ends[1], ends[0])
    return Stream(theirs: owned(theirs), ours: owned(ours))
  }

  private func owned(_ number: Int32) -> OwnedFileDescriptor {
    OwnedFileDescriptor(FileDescriptor(rawValue: number))
  }

  private func open(
    _ path: String, _ access: process_access
  ) -> Result<Int32, ProcessLaunchError.Failure> {
    var number: Int32 = -1
    let error = unsafe process_open(path, access, &number)
    return error == 0 ? .success(number) : .failure(.init(code: error))
  }
}

// MARK: - Validation

extension ProcessLauncher {
  private func checkTexts() throws(ProcessLaunchError) {
    if configuration.program.isEmpty { throw ProcessLaunchError(configuration, .emptyName) }
    try check(configuration.program, .program)
    for (index, argument) in configuration.arguments.enumerated() where argument.contains(0) {
      throw ProcessLaunchError(configuration, .zeroByte(in: .argument(index)))
    }
    if let folder = configuration.folder { try check(folder, .folder) }
    for (name, value) in configuration.environment.given {
      if name.isEmpty || name.utf8.contains(UInt8(ascii: "=")) {
        throw ProcessLaunchError(configuration, .variableName(name))
      }
      try check(name, .variable(name))
      if let value { try check(value, .variable(name)) }
    }
    if case .file(let path) = configuration.input.kind { try check(path, .path) }
    for output in [configuration.output, configuration.errorOutput] {
      if case .file(let path, _) = output.destination.kind { try check(path, .path) }
    }
  }

  private func check(
    _ text: String, _ kind: ProcessLaunchError.Text
  ) throws(ProcessLaunchError) {
    if text.utf8.contains(0) { throw ProcessLaunchError(configuration, .zeroByte(in: kind)) }
  }
}

extension ProcessLaunchError.Failure: Error {}

/// The parameters with which the system starts the program.
private struct Plan {
  let file: String
  let configuration: ProcessConfiguration
  let input: Int32
  let output: Int32
  let errorOutput: Int32

  func spawn() -> Result<Int32, ProcessLaunchError.Failure> {
    var identifier: Int32 = 0
    var arguments = PackedTexts()
    arguments.append(configuration.program.utf8)
    for argument in configuration.arguments { arguments.append(argument) }
    let variables = configuration.environment.texts
    var plan = unsafe process_plan()
    unsafe plan.argument_count = arguments.count
    unsafe plan.variable_count = variables?.count ?? 0
    unsafe plan.input = input
    unsafe plan.output = output
    unsafe plan.error = errorOutput
    unsafe plan.place =
      switch configuration.effectivePlace {
      case .newGroup: process_place_group
      case .newSession: process_place_session
      case .ownGroup: process_place_own_group
      }
    func spawn(_ plan: inout process_plan) -> Int32 {
      unsafe process_spawn(&plan, &identifier)
    }
    let error = unsafe file.withCString { file in
      unsafe plan.program = unsafe file
      return unsafe arguments.withUnsafePointer { arguments in
        unsafe plan.arguments = unsafe arguments
        return unsafe withPointer(to: configuration.folder) { folder in
          unsafe plan.folder = unsafe folder
          guard let variables else { return unsafe spawn(&plan) }
          return unsafe variables.withUnsafePointer { variables in
            unsafe plan.variables = unsafe variables
            return unsafe spawn(&plan)
          }
        }
      }
    }
    return error == 0 ? .success(identifier) : .failure(.init(code: error))
  }

  private func withPointer<Value>(
    to text: String?, _ body: (UnsafePointer<CChar>?) -> Value
  ) -> Value {
    guard let text else { return body(nil) }
    return unsafe text.withCString { unsafe body($0) }
  }
}
