/// A program that could not be started.
public struct ProcessLaunchError: Error, CustomStringConvertible {
  /// What kept it from being started.
  public enum Reason: Sendable, Hashable {
    /// The program's name is empty.
    case emptyName
    /// A text that the program was to get has a zero byte in it, which the system takes for its end.
    case zeroByte(in: Text)
    /// The name of a variable is empty, or has an equals sign in it.
    case variableName(String)
    /// No folder of `PATH` has a program of that name.
    case notFound(searched: [String])
    /// There is no `PATH` to look into, or it is empty.
    case noPath
    /// There is no file of that path.
    case missing
    /// The file is a folder, or a device, or something else that is no program.
    case notAFile
    /// The file is there and may not be run, for the want of a permission.
    case notExecutable
    /// The file is there and is neither for this machine nor a script that begins with `#!`.
    case notAProgram
    /// The file is there, and what it needs to run is not: the interpreter after `#!`, or the loader.
    case noInterpreter
    /// The arguments and the variables take more room than the system has for them.
    case tooLong
    /// The folder that the program was to run in.
    case folder(String, Failure)
    /// The file that the program was to read.
    case input(String, Failure)
    /// The file that the program was to write.
    case output(String, Failure)
    /// Something else of the system.
    case system(Failure)
  }

  /// A text that a program gets.
  public enum Text: Sendable, Hashable {
    case program
    /// The argument of that index, from 0.
    case argument(Int)
    /// The variable of that name.
    case variable(String)
    case folder
    /// The path of a file to be read or written.
    case path
  }

  /// The program, as it was given.
  public let program: String
  /// Its arguments.
  public let arguments: [String]
  public let reason: Reason
  /// The file that was found for the program, if one was.
  public let file: String?

  init(_ operation: ProcessOperation, _ reason: Reason, file: String? = nil) {
    program = operation.program
    arguments = operation.arguments
    self.reason = reason
    self.file = file
  }

  public var description: String {
    let command = CommandText(program, arguments).description
    return "\(command) cannot be started: \(cause)"
  }

  private var cause: String {
    let file = CommandText.quoted(file ?? program)
    return switch reason {
    case .emptyName: "the program name is empty. Pass a name or a path."
    case .zeroByte(let text):
      "\(text.name) contains a zero byte, which ends a string for the system. Remove it, or "
        + "pass it in a file."
    case .variableName(let name):
      "\(CommandText.quoted(name)) is not the name of a variable. A name must not be empty, and "
        + "must not contain =."
    case .notFound(let folders):
      "not found in PATH (\(Self.list(folders))). Install it, pass its path, or set PATH."
    case .noPath:
      "its environment has no PATH to search. Pass its path, or set PATH."
    case .missing: "there is no file \(file). Check the path."
    case .notAFile: "\(file) is not a file. Check the path."
    case .notExecutable:
      "\(file) may not be executed. Permit it, as by chmod +x, or use another program."
    case .notAProgram:
      "\(file) is neither a program for this machine nor a script that begins with #!. "
        + "Run it with an interpreter, such as sh."
    case .noInterpreter:
      "the interpreter or the loader of \(file) is missing. Look at its first line if it is a "
        + "script, or check that it was built for this system."
    case .tooLong:
      "the arguments and variables are too long for the system. Pass them in a file or as input."
    case .folder(let path, let failure):
      "it cannot run in \(CommandText.quoted(path)): \(failure). Use a folder that exists and is "
        + "accessible."
    case .input(let path, let failure):
      "\(CommandText.quoted(path)) cannot be read: \(failure). \(failure.adviceToReader)"
    case .output(let path, let failure):
      "\(CommandText.quoted(path)) cannot be written: \(failure). \(failure.adviceToWriter)"
    case .system(let failure): "\(failure). \(failure.advice)"
    }
  }

  /// The folders that were searched, or the first of very many.
  private static func list(_ folders: [String]) -> String {
    folders.prefix(20).map { CommandText.quoted($0) }.joined(separator: ", ")
      + (folders.count > 20 ? ", …" : "")
  }
}

extension ProcessLaunchError.Text {
  fileprivate var name: String {
    switch self {
    case .program: "the program name"
    case .argument(let index): "argument \(index + 1)"
    case .variable(let name): "the variable \(CommandText.quoted(name))"
    case .folder: "the path of the working folder"
    case .path: "the path of an input or output file"
    }
  }
}
