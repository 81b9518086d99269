// Declarations that the examples of the documents use. They are compiled together with the examples,
// and never run.

import CompositeOperations
import CompositeOperationsTestKit
import DurableOperations
import Foundation
import OperationTracing

// MARK: Folders

struct Folder: Sendable {
  func read() async throws -> (files: [String], folders: [Folder]) { ([], []) }
}
let root = Folder()

// MARK: Issues of repositories

struct User: Sendable, Equatable { var name = "octocat" }
struct Profile: Sendable { var user = User() }
struct Repository: Codable, Sendable, Equatable { var name = "hello-world" }
struct Issue: Codable, Sendable, Equatable { var title = "It does not work" }

struct API: Sendable {
  func repositories(of user: String) async throws -> [Repository] { [] }
  func issues() async throws -> [Issue] { [] }
  func issues(within time: Duration) async throws -> [Issue] { [] }
  func issues(of repository: Repository) async throws -> [Issue] { [] }
}

struct FetchUser: ComposableOperation {
  func perform(in context: OperationContext) async throws -> User { User() }
}

struct FetchProfile: ComposableOperation {
  let user: User
  init(_ user: User) { self.user = user }
  func perform(in context: OperationContext) async throws -> Profile { Profile(user: user) }
}

struct FetchNews: ComposableOperation {
  func perform(in context: OperationContext) async throws -> [String] { [] }
}

struct FetchRepositories: ComposableOperation {
  let user: String
  func perform(in context: OperationContext) async throws -> [Repository] { [] }
}

struct FetchIssues: ComposableOperation {
  let repository: Repository
  func perform(in context: OperationContext) async throws -> [Issue] { [] }
}

struct FetchIssuesOf: ComposableOperation {
  let user: User
  init(_ user: User) { self.user = user }
  func perform(in context: OperationContext) async throws -> [Issue] { [] }
}

struct CachedIssues: ComposableOperation {
  func perform(in context: OperationContext) async throws -> [Issue] { [] }
}

/// Fetches the repositories of a user, then the issues of all of them.
struct UserIssues: OperationSequence {
  let user: String
  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    previous == nil ? FetchRepositories(user: user) : nil
  }
}

let api = API()
let arriving = AsyncStream<Issue> { nil }
let user = User()
let repository = Repository()
let repositories = [Repository()]
let isOffline = false
let fetch = SimpleOperation { try await api.issues() }
let sync = SimpleOperation { try await api.issues() }
let expected = [Issue()]

struct NetworkError: Error {}

struct SyncError: Error {
  let repository: Repository
  let cause: any Error
}

struct Settings: Sendable { var attempts = 3 }
let settings = Settings()

func show(_ thing: Any) {}
func sendToServer(_ chunk: [UInt8]) async throws {}
func report(_ error: any Error) {}

struct NotFound: Error {}
struct LoginExpired: Error {}

struct Login: ComposableOperation {
  func perform(in context: OperationContext) async throws {}
}

struct SaveIssues: ComposableOperation {
  let issues: [Issue]
  init(_ issues: [Issue]) { self.issues = issues }
  func perform(in context: OperationContext) async throws {}
}

/// Fetches the issues of all repositories of a list.
struct OpenIssues: ComposableOperation {
  let list: AnyOperation<[Repository]>
  let issues: @Sendable (Repository) -> AnyOperation<[Issue]>
  func perform(in context: OperationContext) async throws -> [Issue] { [] }
}

// MARK: Conditions and resources

struct Network: Sendable {
  var isReachable: Bool { get async { true } }
  var isMetered: Bool { false }
}

struct AddressBook: Sendable {
  func permission() async throws -> CapabilityStatus { .undetermined }
  func askForPermission() async throws -> CapabilityStatus { .authorized }
}

struct LoadContacts: ComposableOperation {
  func perform(in context: OperationContext) async throws -> [String] { [] }
}

struct Delete: ComposableOperation {
  let paths: [String]
  init(_ paths: [String]) { self.paths = paths }
  func perform(in context: OperationContext) async throws {}
}

let network = Network()
let connections = Permits(4, name: "connections")
let database = Permits(1, name: "database")
let addressBook = AddressBook()
let issues = [Issue()]
let paths = [path]

func ask(_ question: String) async -> Bool { true }

// MARK: Pages and files

struct Page: Sendable { var text = "" }

struct FetchPage: ComposableOperation {
  let url: URL
  init(_ url: URL) { self.url = url }
  func perform(in context: OperationContext) async throws -> Page { Page() }
}

struct ReadCache: ComposableOperation {
  let url: URL
  init(_ url: URL) { self.url = url }
  func perform(in context: OperationContext) async throws -> Page { Page() }
}

struct Store: Sendable {
  func save(_ page: Page) async throws {}
  func unlock() async {}
  func close() async {}
}

struct File: Sendable {
  func close() {}
}

struct OpenFile: ComposableOperation {
  let path: String
  init(_ path: String) { self.path = path }
  func perform(in context: OperationContext) async throws -> File { File() }
}

struct ReadText: ComposableOperation {
  let file: File
  init(from file: File) { self.file = file }
  func perform(in context: OperationContext) async throws -> String { "" }
}

let url = URL(fileURLWithPath: "/index.html")
let urls = [url]
let proxy = url
func nextLines() async -> [UInt8]? { nil }
let mirrorA = url
let mirrorB = url
let path = "/tmp/notes"
let store = Store()

// MARK: Places in a cloud

struct Place: Sendable { var name = "Angkor Wat" }

struct FindPlaces: ComposableOperation {
  let name: String
  func perform(in context: OperationContext) async throws -> [Place] { [] }
}

struct SavePlace: ComposableOperation {
  let place: Place
  init(_ place: Place) { self.place = place }
  func perform(in context: OperationContext) async throws -> Place { place }
}

struct SaveOnce: ComposableOperation {
  enum End: Sendable {
    case saved(Place)
    case wasThere
  }
  let place: Place
  func perform(in context: OperationContext) async throws -> End { .saved(place) }
}

enum AccountStatus: Sendable { case available, noAccount, restricted }
struct AccountRestricted: Error {}
struct Cloud: Sendable {
  func accountStatus() async throws -> AccountStatus { .available }
}

let place = Place()
let places = [place]
let cloud = Cloud()

// MARK: Jobs

struct Message: Sendable {}
struct Queue: Sendable {
  var messages: AsyncStream<Message> { AsyncStream { $0.finish() } }
}

struct HandleMessage: ComposableOperation {
  let message: Message
  func perform(in context: OperationContext) async throws -> String { "done" }
}

enum Status: Sendable { case running, done }

struct FetchStatus: ComposableOperation {
  let job: Int
  init(_ job: Int) { self.job = job }
  func perform(in context: OperationContext) async throws -> Status { .done }
}

struct Poll: ComposableOperation {
  func perform(in context: OperationContext) async throws -> Status { .done }
}

struct OpenDatabase: ComposableOperation {
  func perform(in context: OperationContext) async throws {}
}

struct MigrateSchema: ComposableOperation {
  func perform(in context: OperationContext) async throws {}
}

struct FillCache: ComposableOperation {
  func perform(in context: OperationContext) async throws {}
}

let queue = Queue()
let job = 7
let poll = Poll()
let items = [1, 2, 3]
let manualClock = ContinuousClock()
let recorder = RecordingObserver()

func use(_ item: Int) async throws {}

// MARK: Callback APIs

enum OldAPIError: Error { case unknown }

struct OldAPI: Sendable {
  final class Call: Sendable {
    func cancel() {}
  }
  func fetch(_ completion: @escaping @Sendable (Data?, (any Error)?) -> Void) -> Call { Call() }
  func fetchPage(_ completion: @escaping @Sendable (Result<Page, any Error>) -> Void) {}
  func reload() {}
}

struct Button: Sendable {
  func onClick(_ action: @escaping @Sendable () -> Void) {}
}

let oldAPI = OldAPI()
let isOnBattery = false
struct SavingPowerError: Error {}
let cancelButton = Button()

// MARK: An album

struct Studio: Sendable {
  struct NoAlbum: Error {}
  func photos(of album: String, _ completion: @escaping @Sendable ([String]?) -> Void) {}
  func shrink(_ photo: String) -> String { photo }
  func page(of photos: [String]) -> String { "" }
}

// MARK: A blocking server connection

func openConnection() throws -> Int32 { -1 }
func readAnswer(from connection: Int32) throws -> [UInt8] { [] }

// MARK: Orders

struct Item: Codable, Sendable, CustomStringConvertible {
  var number = "A-17"
  var description: String { number }
}
struct Order: Codable, Sendable {
  var number = 7
  var items = [Item()]
}
struct Payment: Codable, Sendable { var id = "pay_1" }
struct Parcel: Codable, Sendable { var number = 1 }
struct Approval: Codable, Sendable {
  var isGranted = true
  var name = "ada"
}

struct PaymentService: Sendable {
  func charge(_ order: Order, idempotencyKey: String?) async throws -> Payment { Payment() }
}

struct ChargeCard: ComposableOperation {
  let order: Order
  func perform(in context: OperationContext) async throws -> Payment {
    try await payments.charge(order, idempotencyKey: context.idempotencyKey)
  }
}

struct RefundCard: ComposableOperation {
  let payment: Payment
  func perform(in context: OperationContext) async throws {}
}

struct ReserveItem: ComposableOperation {
  let item: Item
  func perform(in context: OperationContext) async throws -> Item { item }
}

struct PackItem: ComposableOperation {
  let item: Item
  func perform(in context: OperationContext) async throws -> Parcel { Parcel() }
}

/// Charges a card, waits for an approval, and packs the items.
struct Fulfilment: DurableSequence {
  let order: Order
  private var payment: Payment?
  init(of order: Order) { self.order = order }

  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? { nil }

  func output(of steps: FinishedSteps) -> [Parcel] { [] }
}

struct Nightly: DurableSequence {
  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? { nil }
}

struct Region: Codable, Sendable { var name = "north" }

struct SyncRegion: DurableSequence {
  let region: Region
  init(_ region: Region) { self.region = region }

  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? { nil }

  func output(of steps: FinishedSteps) -> Int { 0 }
}

let order = Order()
let payments = PaymentService()
let regions = [Region()]
let today = "2026-11-24"

// MARK: Tokens of CloudKit

let apiToken = "a token of the container"
let webToken = "a token of the user"
