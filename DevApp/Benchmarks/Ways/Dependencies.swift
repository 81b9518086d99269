/// The dependencies of a graph: for each node, the earlier nodes that it needs.
struct Dependencies: Sendable {
  let name: String
  let needs: [[Int]]

  var count: Int { needs.count }

  /// Each node needs the one before it.
  static func chain(_ count: Int) -> Dependencies {
    Dependencies(name: "each of which needs the one before", needs: (0..<count).map(before))
  }

  /// All nodes need the first one.
  static func fan(_ count: Int) -> Dependencies {
    Dependencies(name: "that need the first", needs: (0..<count).map { $0 == 0 ? [] : [0] })
  }

  /// Diamonds in a row: a node, two nodes that need it, a node that needs both and starts the next.
  static func diamonds(_ count: Int) -> Dependencies {
    let needs = (0..<count).map { node in
      if node == 0 { return [Int]() }
      return switch node % 3 {
      case 0: [node - 2, node - 1]
      case 1: [node - 1]
      default: [node - 2]
      }
    }
    return Dependencies(name: "in a row of diamonds", needs: needs)
  }

  /// Layers of 100 nodes, each of which needs two nodes of the previous layer.
  static func layers(_ count: Int) -> Dependencies {
    let width = 100
    let needs = (0..<count).map { node in
      node < width ? [] : [node - width, node - width + (node % width == 0 ? 1 : -1)]
    }
    return Dependencies(name: "in layers of 100", needs: needs)
  }

  /// Each node needs up to three of the previous hundred, the same ones every time.
  static func random(_ count: Int) -> Dependencies {
    var state: UInt64 = 1
    func number(below bound: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % bound
    }
    let needs = (0..<count).map { node in
      (0..<number(below: 4)).compactMap { _ in
        node == 0 ? nil : node - 1 - number(below: min(node, 100))
      }
    }
    return Dependencies(name: "that need up to three others at random", needs: needs)
  }

  private static func before(_ node: Int) -> [Int] { node == 0 ? [] : [node - 1] }
}
