import Foundation
import TestSupport

extension Program {
  /// The tool.
  static func coop(_ arguments: String..., in folder: URL? = nil) -> Program {
    built("coop", arguments, in: folder)
  }
}
