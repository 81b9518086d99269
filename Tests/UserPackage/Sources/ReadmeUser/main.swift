import CompositeOperations

/// Reads the temperature at a weather station, which is slow and sometimes fails.
struct Temperature: ComposableOperation {
  let city: String
  var operationName: String { city }

  func perform(in context: OperationContext) async throws -> Int {
    try await Task.sleep(for: .milliseconds(.random(in: 50...250)))
    if Int.random(in: 1...5) == 1 { throw StationError() }
    return .random(in: -10...35)
  }
}

struct StationError: Error {}

let cities = ["Berlin", "Lagos", "Lima", "Osaka", "Perth", "Quito"]
let temperatures = ParallelOperation(
  cities.map { Temperature(city: $0).timingOut(after: .seconds(2)).retrying(attempts: 3) },
  width: .limited(to: 3))

switch await temperatures.run() {
case .result(let values): for (city, value) in zip(cities, values) { print(city, value) }
case .error(let error): print(error)
case .cancelled: print("cancelled")
}
