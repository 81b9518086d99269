/// An order of the steps, and their cycles.
///
/// This is Tarjan's algorithm for strongly connected components, which finds each component after
/// those that it depends on. It uses no recursion, because a chain can have 100,000 steps.
///
/// - Complexity: O(*s* + *e*) for *s* steps and *e* edges, and another O(*s* + *e*) for each cycle.
struct FlowComponents {
  /// All indices, each after those it depends on, unless they are in a cycle.
  private(set) var order: [Int] = []
  /// A shortest cycle for each group of steps that depend on each other. Its first index is the
  /// lowest of the group.
  private(set) var cycles: [[Int]] = []

  private let edges: [[FlowEdge]]
  /// The number of a visited index, in the order of the visits.
  private var numbers: [Int?]
  private var lowest: [Int]
  private var isOpen: [Bool]
  private var open: [Int] = []
  private var count = 0

  init(_ edges: [[FlowEdge]]) {
    self.edges = edges
    numbers = Array(repeating: nil, count: edges.count)
    lowest = Array(repeating: 0, count: edges.count)
    isOpen = Array(repeating: false, count: edges.count)
    for index in edges.indices where numbers[index] == nil { visit(index) }
  }

  private mutating func visit(_ root: Int) {
    var path = [(index: root, edge: 0)]
    enter(root)
    while let (index, edge) = path.last {
      if edge < edges[index].count {
        path[path.count - 1].edge += 1
        let target = edges[index][edge].target
        if let number = numbers[target] {
          if isOpen[target] { lowest[index] = min(lowest[index], number) }
        } else {
          enter(target)
          path.append((target, 0))
        }
      } else {
        path.removeLast()
        if let parent = path.last?.index { lowest[parent] = min(lowest[parent], lowest[index]) }
        if lowest[index] == numbers[index] { close(index) }
      }
    }
  }

  private mutating func enter(_ index: Int) {
    numbers[index] = count
    lowest[index] = count
    count += 1
    open.append(index)
    isOpen[index] = true
  }

  /// Ends the component of an index, which was the first one visited.
  private mutating func close(_ index: Int) {
    var members: [Int] = []
    while let last = open.popLast() {
      isOpen[last] = false
      members.append(last)
      if last == index { break }
    }
    members.sort()
    order += members
    if members.count > 1 { cycles.append(shortestCycle(members)) }
  }

  /// Searches breadth-first from the first member for a way back to it.
  private func shortestCycle(_ members: [Int]) -> [Int] {
    let first = members[0]
    let all = Set(members)
    var previous: [Int: Int] = [:]
    var queue = [first]
    var next = 0
    while next < queue.count {
      let index = queue[next]
      next += 1
      for edge in edges[index] where all.contains(edge.target) {
        if edge.target == first {
          var cycle = [index]
          while let last = cycle.last, last != first, let before = previous[last] {
            cycle.append(before)
          }
          return cycle.reversed()
        }
        if previous[edge.target] == nil {
          previous[edge.target] = index
          queue.append(edge.target)
        }
      }
    }
    return members
  }
}
