import Foundation

/// A filter for shapes and ways by a part of their names. `SHAPE/` matches exactly one shape, and
/// `SHAPE/WAY` exactly one way.
struct Filter {
  let text: String
  private let exact: (shape: String, way: String)?

  init(_ text: String) {
    self.text = text
    exact = text.firstIndex(of: "/").map { slash in
      (String(text[..<slash]), String(text[text.index(after: slash)...]))
    }
  }

  func admits(_ way: Way, of shape: Shape) -> Bool {
    if let exact {
      return exact.shape == shape.id && (exact.way.isEmpty || exact.way == way.name)
    }
    return [shape.id, shape.title, way.name].contains {
      $0.range(of: text, options: .caseInsensitive) != nil
    }
  }
}
