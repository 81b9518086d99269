extension Sequence {
  /// The elements in arrays of a number of them, in their order; the last array may have fewer.
  ///
  /// For operations that take many things at a time:
  ///
  /// ```swift
  /// let save = ParallelOperation(width: .limited(to: 4)) {
  ///   issues.lazy.batched(by: 100).map { SaveIssues($0) }
  /// }
  /// ```
  ///
  /// Each batch is made when it is asked for; `map` behind it makes all of them at once, unless the
  /// sequence is `lazy`.
  ///
  /// - Parameter size: How many elements a batch has.
  /// - Precondition: It is at least one.
  @inlinable public func batched(by size: Int) -> BatchedSequence<Self> {
    BatchedSequence(base: self, size: size)
  }
}

extension AsyncSequence {
  /// The elements in arrays of a number of them, in their order; the last array may have fewer.
  ///
  /// ```swift
  /// let save = ParallelOperation(width: .limited(to: 4), onFailure: .runAll) {
  ///   arriving.batched(by: 100).map { SaveIssues($0) }
  /// }
  /// ```
  ///
  /// A batch comes when it is complete, however long that takes. Where the sequence ends or throws, what
  /// came before makes the last batch, and the error comes right behind it: in a composite that cancels
  /// its children then, that batch is cancelled with them, and with ``FailureMode/runAll`` it is not. What
  /// has been taken for a batch that nobody wants any more, because the composite has stopped, is lost.
  ///
  /// - Parameter size: How many elements a batch has.
  /// - Precondition: It is at least one.
  @inlinable public func batched(by size: Int) -> AsyncBatchedSequence<Self> {
    AsyncBatchedSequence(base: self, size: size)
  }
}

/// The elements of a sequence in arrays of a number of them.
public struct BatchedSequence<Base: Sequence>: Sequence {
  @usableFromInline let base: Base
  @usableFromInline let size: Int

  @inlinable init(base: Base, size: Int) {
    precondition(size >= 1, "`size` must be at least 1 (was \(size))")
    self.base = base
    self.size = size
  }

  @inlinable public func makeIterator() -> Iterator {
    Iterator(base: base.makeIterator(), size: size)
  }

  @inlinable public var underestimatedCount: Int {
    let count = base.underestimatedCount
    return count / size + (count % size == 0 ? 0 : 1)
  }

  /// Makes the batches.
  public struct Iterator: IteratorProtocol {
    @usableFromInline var base: Base.Iterator
    @usableFromInline let size: Int
    @usableFromInline var isAtEnd = false

    @inlinable init(base: Base.Iterator, size: Int) {
      self.base = base
      self.size = size
    }

    @inlinable public mutating func next() -> [Base.Element]? {
      var batch: [Base.Element] = []
      while batch.count < size, !isAtEnd {
        if let element = base.next() { batch.append(element) } else { isAtEnd = true }
      }
      return batch.isEmpty ? nil : batch
    }
  }
}

extension BatchedSequence: LazySequenceProtocol where Base: LazySequenceProtocol {}

extension BatchedSequence: Sendable where Base: Sendable {}

/// The elements of an asynchronous sequence in arrays of a number of them.
public struct AsyncBatchedSequence<Base: AsyncSequence>: AsyncSequence {
  @usableFromInline let base: Base
  @usableFromInline let size: Int

  @inlinable init(base: Base, size: Int) {
    precondition(size >= 1, "`size` must be at least 1 (was \(size))")
    self.base = base
    self.size = size
  }

  @inlinable public func makeAsyncIterator() -> Iterator {
    Iterator(base: base.makeAsyncIterator(), size: size)
  }

  /// Makes the batches.
  public struct Iterator: AsyncIteratorProtocol {
    @usableFromInline var base: Base.AsyncIterator
    @usableFromInline let size: Int
    @usableFromInline var isAtEnd = false
    /// What the sequence threw behind the elements of the last batch.
    @usableFromInline var failure: Base.Failure?

    @inlinable init(base: Base.AsyncIterator, size: Int) {
      self.base = base
      self.size = size
    }

    @inlinable public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws(Base.Failure) -> [Base.Element]? {
      if let failure = failure.take() { throw failure }
      var batch: [Base.Element] = []
      do throws(Base.Failure) {
        while batch.count < size, !isAtEnd {
          if let element = try await base.next(isolation: actor) {
            batch.append(element)
          } else {
            isAtEnd = true
          }
        }
      } catch {
        isAtEnd = true
        if batch.isEmpty { throw error }
        failure = error
      }
      return batch.isEmpty ? nil : batch
    }
  }
}

extension AsyncBatchedSequence: Sendable where Base: Sendable {}
