import CompositeOperations

extension Builder {
  /// A body that runs children through its context, as user code does.
  func performing(_ body: Tree.Body, _ children: [Tree], at node: Int) -> AnyShown {
    let children = children.map { operation($0) }
    return recorded(
      SimpleOperation.withContext { context in
        body.isConcurrent
          ? await runSideBySide(children, in: context, at: node)
          : try await runOneByOne(children, as: body, in: context, at: node)
        return try recorder.endClosure(as: body.end, at: node)
      }, at: node)
  }

  private func runOneByOne(
    _ children: [AnyShown], as body: Tree.Body, in context: OperationContext, at node: Int
  ) async throws {
    for (index, child) in children.enumerated() {
      for _ in 0..<body.yields { await Task.yield() }
      if body.letsErrorsThrough {
        do {
          let value = try await context.run(child)
          receive(.result(value), from: index, at: node)
        } catch {
          receive(
            error is CancellationError ? .cancelled : .error(ShownError(error)), from: index,
            at: node)
          throw error
        }
      } else {
        receive(ShownOutcome(await context.outcome(of: child)), from: index, at: node)
      }
    }
  }

  private func runSideBySide(
    _ children: [AnyShown], in context: OperationContext, at node: Int
  ) async {
    await withDiscardingTaskGroup { group in
      for (index, child) in children.enumerated() {
        group.addTask {
          receive(ShownOutcome(await context.outcome(of: child)), from: index, at: node)
        }
      }
    }
  }

  private func receive(_ outcome: ShownOutcome, from child: Int, at node: Int) {
    recorder.add { .received(node, child: child, outcome, isCancelled: $0) }
  }
}
