internal import SystemSupport

/// Finds the file of a program, and determines why it could not be started.
struct ProgramLookup {
  let configuration: ProcessConfiguration

  private enum Finding { case program, missing, notAFile, notExecutable }

  /// The path of the file to start.
  ///
  /// - Throws: ``ProcessLaunchError`` if the file is not found in `PATH`.
  func file() throws(ProcessLaunchError) -> String {
    let name = configuration.program
    if name.contains("/") { return name }
    guard let path = configuration.environment.value(of: "PATH"), !path.isEmpty else {
      throw ProcessLaunchError(configuration, .noPath)
    }
    // In POSIX, an empty entry means the working folder of the program.
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
    if let refused { throw ProcessLaunchError(configuration, .notExecutable, file: refused) }
    throw ProcessLaunchError(configuration, .notFound(searched: folders))
  }

  /// The error of the working folder of the program; nil if the folder can be used.
  var folderProblem: ProcessLaunchError? {
    guard let folder = configuration.folder else { return nil }
    do throws(SystemError) {
      if try FileStatus(ofFile: folder).kind != .folder { throw .notDirectory }
      try FileSystem.check(.execution, to: folder)
      return nil
    } catch {
      return ProcessLaunchError(configuration, .folder(folder, .init(error)))
    }
  }

  /// The error of a program that the system did not start.
  func problem(with file: String, _ failure: ProcessLaunchError.Failure) -> ProcessLaunchError {
    if let folderProblem { return folderProblem }
    let reason: ProcessLaunchError.Reason =
      switch (finding(at: file), failure.error) {
      case (.missing, _): .missing
      case (.notAFile, _): .notAFile
      case (.notExecutable, _), (.program, .permissionDenied): .notExecutable
      case (.program, .execFormatError): .notAProgram
      case (.program, .noSuchFileOrDirectory): .noInterpreter
      case (.program, .argumentListTooLong): .tooLong
      case (.program, _): .system(failure)
      }
    return ProcessLaunchError(configuration, reason, file: file)
  }

  private func finding(at file: String) -> Finding {
    let path = file.hasPrefix("/") ? file : configuration.folder.map { "\($0)/\(file)" } ?? file
    do throws(SystemError) {
      if try FileStatus(ofFile: path).kind != .file { return .notAFile }
    } catch {
      return error == .permissionDenied ? .notExecutable : .missing
    }
    return FileSystem.allows(.execution, to: path) ? .program : .notExecutable
  }
}
