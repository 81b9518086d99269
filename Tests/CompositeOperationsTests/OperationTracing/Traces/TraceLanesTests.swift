import CompositeOperations
import CompositeOperationsTestKit
import OperationTracing
import Testing

@Suite struct TraceLanesTests {
  /// Returns identities in the order of their creation.
  private func ids(_ count: Int) async -> [OperationID] {
    let recorder = TraceRecorder()
    for _ in 0..<count { _ = await SimpleOperation {}.observed(by: recorder).run() }
    return recorder.trace.spans.map(\.id)
  }

  @Test func `a run that outlives its parent moves to another lane, with everything below it`()
    async
  {
    let ids = await ids(4)
    var lanes = TraceLanes()
    let outermost = lanes.place(.run(ids[0]), at: .seconds(1), below: nil)
    let parent = lanes.place(.run(ids[1]), at: .seconds(2), below: (ids[0], outermost))
    let child = lanes.place(.run(ids[2]), at: .seconds(3), below: (ids[1], parent))
    let wait = lanes.place(.wait(ids[2], 0), at: .seconds(4), below: (ids[2], child))
    #expect([outermost, parent, child, wait] == [0, 0, 0, 0])
    let departure = lanes.leave(.run(ids[1]), lane: 0, at: .seconds(5))
    #expect(departure.moved == [.run(ids[2]), .wait(ids[2], 0)])
    #expect(departure.lane == 1)
    #expect(lanes.place(.run(ids[3]), at: .seconds(6), below: (ids[0], outermost)) == 0)
  }

  @Test func `a run that began before a lane was left is not placed in it`() async {
    let ids = await ids(4)
    var lanes = TraceLanes()
    #expect(lanes.place(.run(ids[0]), at: .seconds(1), below: nil) == 0)
    #expect(lanes.leave(.run(ids[0]), lane: 0, at: .seconds(5)).time == .seconds(5))
    // The event of this run arrived late.
    #expect(lanes.place(.run(ids[1]), at: .seconds(4), below: nil) == 1)
    #expect(lanes.place(.run(ids[2]), at: .seconds(5), below: nil) == 0)
    #expect(lanes.place(.run(ids[3]), at: .seconds(6), below: (ids[1], 1)) == 1)
    _ = lanes.leave(.run(ids[3]), lane: 1, at: .seconds(8))
    // A run below it has left later than its own time.
    #expect(lanes.leave(.run(ids[1]), lane: 1, at: .seconds(7)).time == .seconds(8))
  }

  @Test func `a wait is placed in another lane while its run has a child`() async {
    let ids = await ids(2)
    var lanes = TraceLanes()
    #expect(lanes.place(.run(ids[0]), at: .seconds(1), below: nil) == 0)
    #expect(lanes.place(.run(ids[1]), at: .seconds(2), below: (ids[0], 0)) == 0)
    #expect(lanes.place(.wait(ids[0], 0), at: .seconds(3), below: (ids[0], 0)) == 1)
  }
}
