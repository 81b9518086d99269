import Foundation
import TestSupport

extension Program {
  /// The demo.
  static func devApp(_ arguments: String..., in folder: URL? = nil) -> Program {
    built("DevApp", arguments, in: folder)
  }

  /// The tool, which shows the journals of the demo.
  static func coop(_ arguments: String...) -> Program { built("coop", arguments) }
}
