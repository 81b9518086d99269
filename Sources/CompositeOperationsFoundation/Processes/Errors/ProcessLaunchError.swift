public import Foundation

/// The error of a program that could not be started.
public struct ProcessLaunchError: Error, CustomStringConvertible {
  /// A reason why a program could not be started.
  public enum Reason: Sendable, Hashable {
    /// The program's name is empty.
    case emptyName
    /// A string for the program contains a zero byte, which ends it for the system.
    case zeroByte(in: Text)
    /// The name of a variable is empty or contains an equals sign.
    case variableName(String)
    /// No folder of `PATH` contains the program.
    case notFound(searched: [String])
    /// There is no `PATH` to search, or it is empty.
    case noPath
    /// There is no file at the path.
    case missing
    /// The path names a folder, a device, or something else that is no program.
    case notAFile
    /// The file exists, but its permissions do not allow it to be executed.
    case notExecutable
    /// The file exists, but is neither a program for this machine nor a script that begins with
    /// `#!`.
    case notAProgram
    /// The file exists, but the interpreter after `#!`, or the loader, does not.
    case noInterpreter
    /// The arguments and the variables are too long for the system.
    case tooLong
    /// The working folder of the program cannot be used.
    case folder(String, Failure)
    /// The file for standard input cannot be opened.
    case input(String, Failure)
    /// The file for an output cannot be opened.
    case output(String, Failure)
    /// Another error of the system.
    case system(Failure)
  }

  /// A string that is passed to a program.
  public enum Text: Sendable, Hashable {
    case program
    /// The argument with an index, from 0.
    case argument(Int)
    /// The name or the value of a variable.
    case variable(String)
    case folder
    /// The path of a file for input or output.
    case path
  }

  /// The program, as it was passed to the operation.
  public let program: String
  /// The arguments of the program, with U+FFFD for bytes that are not UTF-8.
  public let arguments: [String]
  private let command: String
  /// Why the program could not be started.
  public let reason: Reason
  /// The file that was found for the program; nil if none was.
  public let file: String?

  init(_ configuration: ProcessConfiguration, _ reason: Reason, file: String? = nil) {
    program = configuration.program
    arguments = configuration.argumentTexts
    command = configuration.command
    self.reason = reason
    self.file = file
  }

  /// The command, the reason, and what to do.
  public var description: String {
    "\(command) cannot be started: \(cause)"
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

  /// The folders that were searched, at most 20 of them.
  private static func list(_ folders: [String]) -> String {
    folders.prefix(20).map { CommandText.quoted($0) }.joined(separator: ", ")
      + (folders.count > 20 ? ", …" : "")
  }
}

extension ProcessLaunchError: LocalizedError {
  public var errorDescription: String? { "\(self)" }
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
