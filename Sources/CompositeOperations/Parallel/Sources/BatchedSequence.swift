extension Sequence {
  /// Returns the elements in batches, in order; the last batch may have fewer elements.
  ///
  /// Use it for operations that process several elements at once:
  ///
  /// ```swift
  /// let save = ParallelOperation(width: .limited(to: 4)) {
  ///   issues.lazy.batched(by: 100).map { SaveIssues($0) }
  /// }
  /// ```
  ///
  /// Each batch is created when it is requested. A following `map` creates all of them at once,
  /// unless the sequence is `lazy`.
  ///
  /// - Parameter size: The number of elements in a batch.
  /// - Precondition: `size` is at least 1.
  @inlinable public func batched(by size: Int) -> BatchedSequence<Self> {
    BatchedSequence(base: self, size: size)
  }
}

extension AsyncSequence {
  /// Returns the elements in batches, in order; the last batch may have fewer elements.
  ///
  /// ```swift
  /// let save = ParallelOperation(width: .limited(to: 4), onFailure: .runAll) {
  ///   arriving.batched(by: 100).map { SaveIssues($0) }
  /// }
  /// ```
  ///
  /// A batch is returned when it is complete, however long that takes. When the sequence ends or
  /// throws, the remaining elements form the last batch. An error follows directly after it, so a
  /// composite that cancels its children on an error also cancels that batch; with
  /// ``FailureMode/runAll`` it does not. If the composite stops before it takes a batch, the
  /// elements that were read for it are lost.
  ///
  /// - Parameter size: The number of elements in a batch.
  /// - Precondition: `size` is at least 1.
  @inlinable public func batched(by size: Int) -> AsyncBatchedSequence<Self> {
    AsyncBatchedSequence(base: self, size: size)
  }
}

/// A sequence of the elements of another one, in batches.
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

  /// An iterator over the batches.
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

/// An asynchronous sequence of the elements of another one, in batches.
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

  /// An iterator over the batches.
  public struct Iterator: AsyncIteratorProtocol {
    @usableFromInline var base: Base.AsyncIterator
    @usableFromInline let size: Int
    @usableFromInline var isAtEnd = false
    /// The error that the sequence threw after the elements of the last batch.
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
