/// The waiting members of a pool, in the order in which they may begin.
///
/// A barrier waits for all earlier members, and all later members wait for the barrier. So the
/// members are in **epochs**, each of which except the last ends with a barrier. Within an epoch,
/// members with a higher priority come first, and members with the same priority are in FIFO or
/// LIFO order. Linked lists connect the epochs, and the members of a priority in an epoch. So no
/// method takes time that depends on the number of members, only on the number of priorities in
/// use.
struct PoolQueue: Sendable {
  /// The place of a member until it is removed.
  struct Place: Sendable {
    fileprivate let slot: Int
  }

  private struct Slot: Sendable {
    var member: PoolAdmission.Ticket?
    /// Increases with every member.
    var number = 0
    var epoch = 0
    var priority = 0
    var isBarrier = false
    var previous = -1
    var next = -1
  }

  /// The members of one priority in an epoch, in the order of submission.
  private struct Line: Sendable {
    let priority: Int
    var first: Int
    var last: Int
  }

  private struct Epoch: Sendable {
    /// In descending order of priority; none is empty.
    var lines: [Line] = []
    var barrier = -1
    var previous = -1
    var next = -1

    var isEmpty: Bool { lines.isEmpty && barrier < 0 }
  }

  let order: OperationPool.Order
  private(set) var count = 0
  private var slots: [Slot] = []
  private var freeSlots: [Int] = []
  private var epochs = [Epoch()]
  private var freeEpochs: [Int] = []
  private var firstEpoch = 0
  /// Has no barrier, and may be empty. All other epochs have members.
  private var lastEpoch = 0
  private var lastNumber = 0

  init(order: OperationPool.Order) { self.order = order }

  mutating func add(_ member: PoolAdmission.Ticket, priority: Int, isBarrier: Bool) -> Place {
    lastNumber += 1
    count += 1
    let slot = freeSlots.popLast() ?? slots.endIndex
    if slot == slots.endIndex { slots.append(Slot()) }
    slots[slot] = Slot(
      member: member, number: lastNumber, epoch: lastEpoch, priority: priority,
      isBarrier: isBarrier)
    if isBarrier {
      epochs[lastEpoch].barrier = slot
      addEpoch()
    } else {
      append(slot, to: lastEpoch)
    }
    return Place(slot: slot)
  }

  private mutating func addEpoch() {
    let epoch = freeEpochs.popLast() ?? epochs.endIndex
    if epoch == epochs.endIndex { epochs.append(Epoch()) }
    epochs[epoch] = Epoch(previous: lastEpoch)
    epochs[lastEpoch].next = epoch
    lastEpoch = epoch
  }

  private mutating func removeEpoch(_ epoch: Int) {
    let (previous, next) = (epochs[epoch].previous, epochs[epoch].next)
    if previous >= 0 { epochs[previous].next = next } else { firstEpoch = next }
    epochs[next].previous = previous
    freeEpochs.append(epoch)
  }

  private mutating func append(_ slot: Int, to epoch: Int) {
    let priority = slots[slot].priority
    let index = epochs[epoch].lines.firstIndex { $0.priority <= priority }
    if let index, epochs[epoch].lines[index].priority == priority {
      let last = epochs[epoch].lines[index].last
      slots[last].next = slot
      slots[slot].previous = last
      epochs[epoch].lines[index].last = slot
    } else {
      let line = Line(priority: priority, first: slot, last: slot)
      epochs[epoch].lines.insert(line, at: index ?? epochs[epoch].lines.endIndex)
    }
  }

  mutating func remove(_ place: Place) {
    let slot = place.slot
    let member = slots[slot]
    let epoch = member.epoch
    slots[slot].member = nil
    count -= 1
    freeSlots.append(slot)
    if member.isBarrier {
      epochs[epoch].barrier = -1
    } else {
      guard let index = epochs[epoch].lines.firstIndex(where: { $0.priority == member.priority })
      else { preconditionFailure("the member has already been removed") }
      if member.previous >= 0 { slots[member.previous].next = member.next }
      if member.next >= 0 { slots[member.next].previous = member.previous }
      if epochs[epoch].lines[index].first == slot { epochs[epoch].lines[index].first = member.next }
      if epochs[epoch].lines[index].last == slot {
        epochs[epoch].lines[index].last = member.previous
      }
      if epochs[epoch].lines[index].first < 0 { epochs[epoch].lines.remove(at: index) }
    }
    if epochs[epoch].isEmpty, epoch != lastEpoch { removeEpoch(epoch) }
    // Frees the memory of a peak.
    if count == 0, slots.count > 1_024 { self = PoolQueue(order: order) }
  }

  /// The member that may begin next.
  var next: PoolAdmission.Ticket? {
    let epoch = firstEpoch
    if let line = epochs[epoch].lines.first {
      return slots[order == .fifo ? line.first : line.last].member
    }
    return epochs[epoch].barrier < 0 ? nil : slots[epochs[epoch].barrier].member
  }

  /// The member that has waited the longest.
  var oldest: PoolAdmission.Ticket? {
    let epoch = epochs[firstEpoch]
    let first = epoch.lines.map(\.first).min { slots[$0].number < slots[$1].number }
    return (first ?? (epoch.barrier < 0 ? nil : epoch.barrier)).flatMap { slots[$0].member }
  }

  /// The member that was submitted last.
  var newest: PoolAdmission.Ticket? {
    let last = epochs[lastEpoch]
    let epoch = last.isEmpty && last.previous >= 0 ? epochs[last.previous] : last
    if epoch.barrier >= 0 { return slots[epoch.barrier].member }
    let newest = epoch.lines.map(\.last).max { slots[$0].number < slots[$1].number }
    return newest.flatMap { slots[$0].member }
  }
}

/// Elements that keep their index until they are removed.
struct PoolSlots<Element: Sendable>: Sendable {
  private var slots: [Element?] = []
  private var free: [Int] = []

  var count: Int { slots.count - free.count }
  var isEmpty: Bool { count == 0 }

  var elements: [Element] { slots.compactMap(\.self) }

  /// - Returns: The index of the element.
  mutating func add(_ element: Element) -> Int {
    guard let index = free.popLast() else {
      slots.append(element)
      return slots.endIndex - 1
    }
    slots[index] = element
    return index
  }

  mutating func remove(_ index: Int) {
    slots[index] = nil
    free.append(index)
    // Frees the memory of a peak.
    if isEmpty, slots.count > 1_024 { self = PoolSlots() }
  }
}
