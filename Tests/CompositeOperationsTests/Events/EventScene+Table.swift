import CompositeOperations
import CompositeOperationsTestKit

extension EventScene {
  static let all = lists + races + sequences + bodies

  private static let lists = [
    EventScene("a list whose second child fails") { setting in
      ParallelOperation(
        [setting.giving(1), setting.failing(), setting.giving(3), setting.giving(4)],
        width: .limited(to: 2))
    },
    EventScene(
      "a list that runs all",
      paths: ["root", "root/list", "root/list/a", "root/list/b", "root/list/c"]
    ) { setting in
      ParallelOperation(
        [
          setting.giving(1).named("a"), setting.failing().named("b"), setting.stopping().named("c"),
        ] as [any ComposableOperation<Int>], onFailure: .runAll
      ).named("list")
    },
    EventScene("a pack", paths: ["root", "root/pack", "root/pack/a", "root/pack/b"]) { setting in
      ParallelOperation(setting.giving(1).named("a"), setting.giving("x").named("b")).named("pack")
    },
    EventScene(
      "lazily made children",
      paths: ["root", "root/lazy", "root/lazy/0", "root/lazy/1", "root/lazy/2", "root/lazy/3"]
    ) { setting in
      ParallelOperation(width: .limited(to: 2)) {
        (0..<4).lazy.map { setting.giving($0).named("\($0)") }
      }.named("lazy")
    },
    EventScene("lazily made children, one of which fails") { setting in
      ParallelOperation(width: .limited(to: 3)) {
        (0..<6).lazy.map { $0 == 3 ? setting.failing() : setting.giving($0) }
      }
    },
    EventScene("results that are consumed, until the consumer throws") { setting in
      ParallelOperation(width: .limited(to: 2)) {
        (0..<6).lazy.map { setting.giving($0) }
      } consumingResults: { value in
        await setting.pause()
        if value == 4 { throw TestError("full") }
      }
    },
    EventScene("collected outcomes", paths: ["root", "root/all", "root/all/a"]) { setting in
      ParallelOperation([setting.failing().named("a")]).collectingOutcomes().named("all")
    },
    EventScene("a child that stops, two composites deep") { setting in
      ParallelOperation([
        ParallelOperation([setting.giving(1), setting.stopping(), setting.waiting(giving: 3)]),
        ParallelOperation([setting.waiting(giving: 4)]),
      ])
    },
  ]

  private static let races = [
    EventScene("a race") { setting in
      RaceOperation([
        setting.failing(), setting.stopping(), setting.giving(3), setting.waiting(giving: 4),
      ])
    },
    EventScene("a race without a winner", paths: ["root", "root/race", "root/race/a"]) {
      setting in
      RaceOperation([setting.failing().named("a")]).named("race")
    },
  ]

  private static let sequences = [
    EventScene("recovery", paths: ["root", "root/steps", "root/steps/a", "root/steps/b"]) {
      setting in
      setting.failing().named("a").fallingBack(toEachOf: [setting.giving(2).named("b")])
        .named("steps")
    },
    EventScene(
      "attempts", paths: ["root", "root/tries", "root/tries/a", "root/tries/a", "root/tries/a"]
    ) { setting in
      setting.failing().named("a").retrying(attempts: 3).named("tries")
    },
    EventScene(
      "hedged attempts",
      paths: ["root", "root/tries", "root/tries/a", "root/tries/a", "root/tries/a"]
    ) { setting in
      setting.failing().named("a").hedged(after: .seconds(600), attempts: 3).named("tries")
    },
    EventScene(
      "steps one after another", paths: ["root", "root/steps", "root/steps/a", "root/steps/b"]
    ) { setting in
      SequentialOperation(
        .linear([
          setting.giving(1).named("a"), setting.stopping().named("b"), setting.giving(3),
        ])
      ).named("steps")
    },
  ]

  private static let bodies = [
    EventScene(
      "then and map",
      paths: [
        "root", "root/a.then.map", "root/a.then.map/a.then", "root/a.then.map/a.then/a",
        "root/a.then.map/a.then/b",
      ]
    ) { setting in
      setting.giving(1).named("a").then { setting.giving($0).named("b") }.map { $0 + 1 }
    },
    EventScene(
      "children of a body", paths: ["root", "root/body", "root/body/a", "root/body/a/b"]
    ) { setting in
      SimpleOperation.withContext { context in
        await setting.pause()
        let child = SimpleOperation.withContext { context in
          await context.outcome(of: setting.failing().named("b")).kind
        }
        return try await context.run(child.named("a"))
      }.named("body")
    },
    EventScene("a callback that is finished twice", paths: ["root", "root/call"]) { _ in
      SimpleOperation<Int>.withCallback { finish in
        finish(.result(1))
        finish(.error(TestError("again")))
      }.named("call")
    },
    EventScene(
      "modifiers without runs of their own", paths: ["root", "root/list", "root/list/a"]
    ) { setting in
      let child = AnyOperation(setting.giving(1)).named("hidden").prioritized(at: .high)
      return ParallelOperation([child.discarding { _ in }.named("a")]).named("list")
    },
    EventScene("a body that cancels its own task") { setting in
      let child = SimpleOperation {
        cancelCurrentTask()
        await setting.pause()
        return 1
      }
      return ParallelOperation([child, setting.giving(2)], width: .serial, onFailure: .runAll)
    },
  ]
}
