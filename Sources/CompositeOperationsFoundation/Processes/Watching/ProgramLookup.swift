#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// Finds the file of a program, and says what is wrong with one.
struct ProgramLookup {
  let operation: ProcessOperation

  private enum Finding { case program, missing, notAFile, notExecutable }

  /// The path that the program is to be started by.
  ///
  /// - Throws: ``ProcessLaunchError`` if `PATH` does not lead to one.
  func file() throws(ProcessLaunchError) -> String {
    let name = operation.program
    if name.contains("/") { return name }
    guard let path = operation.environment.value(of: "PATH"), !path.isEmpty else {
      throw ProcessLaunchError(operation, .noPath)
    }
    // An empty one stands for the folder that the program runs in, as POSIX has it.
    let folders = path.split(separator: ":", omittingEmptySubsequences: false)
      .map { $0.isEmpty ? "." : String($0) }
    var refused: String?
    for folder in folders {
      let file = folder + "/" + name
      switch finding(at: file) {
      case .program: return file
      case .notExecutable: refused = refused ?? file
      case .missing, .notAFile: break
      }
    }
    if let refused { throw ProcessLaunchError(operation, .notExecutable, file: refused) }
    throw ProcessLaunchError(operation, .notFound(searched: folders))
  }

  /// What is wrong with the folder that the program is to run in.
  var folderProblem: ProcessLaunchError? {
    guard let folder = operation.folder else { return nil }
    var status = stat()
    let failure: ProcessLaunchError.Failure
    if unsafe stat(folder, &status) != 0 {
      failure = .last
    } else if status.st_mode & S_IFMT != S_IFDIR {
      failure = .init(code: ENOTDIR)
    } else if unsafe faccessat(AT_FDCWD, folder, X_OK, AT_EACCESS) != 0 {
      failure = .last
    } else {
      return nil
    }
    return ProcessLaunchError(operation, .folder(folder, failure))
  }

  /// What is wrong with a program that the system did not start.
  func problem(with file: String, _ failure: ProcessLaunchError.Failure) -> ProcessLaunchError {
    if let folderProblem { return folderProblem }
    let reason: ProcessLaunchError.Reason =
      switch (finding(at: file), failure.code) {
      case (.missing, _): .missing
      case (.notAFile, _): .notAFile
      case (.notExecutable, _), (.program, EACCES): .notExecutable
      case (.program, ENOEXEC): .notAProgram
      case (.program, ENOENT): .noInterpreter
      case (.program, E2BIG): .tooLong
      case (.program, _): .system(failure)
      }
    return ProcessLaunchError(operation, reason, file: file)
  }

  private func finding(at file: String) -> Finding {
    let path = file.hasPrefix("/") ? file : operation.folder.map { "\($0)/\(file)" } ?? file
    var status = stat()
    if unsafe stat(path, &status) != 0 { return errno == EACCES ? .notExecutable : .missing }
    if status.st_mode & S_IFMT != S_IFREG { return .notAFile }
    // By the rights that a program is started with.
    return unsafe faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0 ? .program : .notExecutable
  }
}
