import FlowFiles
import Foundation
import TestSupport
import Testing

@Suite(.needsYAML)
struct ExampleTests {
  @Test(arguments: FlowExamples.all.keys.sorted())
  func `an example of the documentation is read as the expected model`(name: String) throws {
    let file = try FlowFile(yaml: try #require(FlowExamples.all[name]))
    #expect(file.outline == FlowExamples.outlines[name])
  }

  @Test func `a file is read from its path`() throws {
    let folder = try TemporaryFolder()
    let path = folder["release.yaml"].path
    try Data(FlowExamples.release.utf8).write(to: folder["release.yaml"])
    let file = try FlowFile.read(contentsOf: path)
    #expect(file.path == path)
    #expect(try file.outline == FlowFile(yaml: FlowExamples.release).outline)
  }

  @Test func `all fields of a file and a step are read`() throws {
    let file = try FlowFile(
      yaml: #"""
        flow: all-fields_1.0
        width: 3
        values: {v: "1.10", empty: , no: no, tilde: ~}
        env: {A: file, B: file, C: "${v}"}
        locks: {gpu: 2}
        defaults:
          {env: {B: defaults}, in: "d/${v}", retries: 1, backoff: 1.5s, timeout: 2h, accept: 3,
           locks: net, width: 7}
        steps:
          one:
            run: [[a, "$$${v}${no}"], [b]]
          two:
            needs: one
            after: [zero]
            each: ["x", "${v}"]
            run: echo "$each"
            only-if: [test, "${each}", =, x]
            inputs: "in/${each}"
            outputs: ["out/${each}", "${each}.log"]
            retries: 0
            backoff: 500ms
            timeout: 90s
            in: /
            env: {A: "${each}"}
            locks: {gpu: 2, disk: 1}
            accept: [0, 255]
            stdin: "in/${each}"
            width: 2
          three: {run: [x], each: {same-as: two}, locks: []}
          zero: {run: [x]}
        """#)
    #expect(
      file.outline == #"""
        flow all-fields_1.0
        width 3
        value v = 1.10 @3:10
        value empty = nothing @3:21
        value no = no @3:30
        value tilde = ~ @3:38
        env A = file@4:10 @4:7
        env B = file@4:19 @4:16
        env C = <v>@4:28 @4:25
        lock disk 1
        lock gpu 2
        lock net 1
        step one @10:3
          run a@11:12 $<v><no>@11:15
          run b@11:32
          retries 1
          backoff 1.5 seconds
          timeout 7200.0 seconds
          in d/<v>@7:28
          env A = file@4:10 @4:7
          env C = <v>@4:28 @4:25
          env B = defaults@7:13 @7:10
          lock net 1 @8:11
          accept [3]
        step two @12:3
          run shell echo "$each"
          each [x@15:12 <v>@15:17]
          width 2
          needs one @13:12
          after zero @14:13
          only-if test@17:15 <each>@17:21 =@17:32 x@17:35
          input in/<each>@18:13
          output out/<each>@19:15
          output <each>.log@19:30
          backoff 0.5 seconds
          timeout 90.0 seconds
          in /@23:9
          env C = <v>@4:28 @4:25
          env B = defaults@7:13 @7:10
          env A = <each>@24:14 @24:11
          lock disk 1 @25:21
          lock gpu 2 @25:13
          accept [0, 255]
          stdin in/<each>@27:12
        step three @29:3
          run x@29:17
          each same-as two @29:37
          width 7
          retries 1
          backoff 1.5 seconds
          timeout 7200.0 seconds
          in d/<v>@7:28
          env A = file@4:10 @4:7
          env C = <v>@4:28 @4:25
          env B = defaults@7:13 @7:10
          accept [3]
        step zero @30:3
          run x@30:16
          retries 1
          backoff 1.5 seconds
          timeout 7200.0 seconds
          in d/<v>@7:28
          env A = file@4:10 @4:7
          env C = <v>@4:28 @4:25
          env B = defaults@7:13 @7:10
          lock net 1 @8:11
          accept [3]
        """#)
  }

  @Test func `anchors and aliases repeat values`() throws {
    let file = try FlowFile(
      yaml: """
        flow: f
        steps:
          &a one: {run: &r [x, &w y], outputs: [o1]}
          two: {run: *r, needs: *a, outputs: [*w]}
        """)
    #expect(
      file.outline == """
        flow f
        step one @3:3
          run x@3:21 y@3:24
          output o1@3:41
        step two @4:3
          run x@3:21 y@3:24
          needs one @4:25
          output y@4:39
        """)
  }
}
