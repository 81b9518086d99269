import FlowFiles
import Testing

@Suite struct PathTests {
  @Test(arguments: [
    ("a", "a"), ("/a/b.c", "/a/b.c"), ("a/.b/..", "a/.b/.."), ("/", "/"), ("", ""),
    ("./a", "a"), ("a/.", "a"), ("a/./b", "a/b"), (".", ""), ("a//b", "a/b"), ("//a", "/a"),
    ("a/", "a"), ("/./a", "/a"),
  ])
  func `a normalized path has no '.' and no empty names`(path: String, normalized: String) {
    #expect(path.normalizedPath == normalized)
  }
}
