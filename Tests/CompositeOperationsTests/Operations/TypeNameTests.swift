import CompositeOperations
import Testing

@Suite struct TypeNameTests {
  /// More types than the engine keeps names of.
  @Test func `each of 1,600 operation types has its own name, also when it is read again`() {
    let types = (0..<40).map(Self.nested)
    for _ in 0..<2 {
      var names: Set<String> = []
      for first in types {
        for second in types {
          let (name, expected) = Self.name(first, second)
          #expect(name == expected)
          names.insert(name)
        }
      }
      #expect(names.count == 1_600)
    }
  }

  @Test func `threads that read the name of a type at the same time read the same`() async {
    await withTaskGroup(of: Set<String>.self) { group in
      for _ in 0..<4 {
        group.addTask {
          let types = (0..<40).map(Self.nested)
          return Set(types.map { Self.name($0, Concurrently.self).name })
        }
      }
      var all: Set<String> = []
      for await names in group { all.formUnion(names) }
      #expect(all.count == 40)
    }
  }

  fileprivate enum Concurrently: Nestable {}
  fileprivate enum Innermost: Nestable {}
  fileprivate enum Nested<Inner>: Nestable {}

  fileprivate struct Typed<First, Second>: ComposableOperation {
    func perform(in context: OperationContext) {}
  }

  fileprivate protocol Nestable {
    static var nested: any Nestable.Type { get }
    static func name<First: Nestable>(after first: First.Type) -> (name: String, expected: String)
  }

  /// A type that is nested a number of times.
  private static func nested(_ count: Int) -> any Nestable.Type {
    (0..<count).reduce(Innermost.self) { inner, _ in inner.nested }
  }

  private static func name(
    _ first: any Nestable.Type, _ second: any Nestable.Type
  ) -> (name: String, expected: String) {
    func open<First: Nestable>(_ first: First.Type) -> (name: String, expected: String) {
      second.name(after: first)
    }
    return open(first)
  }
}

extension TypeNameTests.Nestable {
  fileprivate static var nested: any TypeNameTests.Nestable.Type { TypeNameTests.Nested<Self>.self }

  fileprivate static func name<First: TypeNameTests.Nestable>(
    after first: First.Type
  ) -> (name: String, expected: String) {
    (TypeNameTests.Typed<First, Self>().operationName, "Typed<\(First.self), \(Self.self)>")
  }
}
