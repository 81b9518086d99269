/// The examples of the documentation.
enum FlowExamples {
  static let release = #"""
    # release.yaml - coop flow run release.yaml --set version=1.4.0
    flow: release
    values: {version: dev}
    defaults: {timeout: 20m}
    steps:
      build:
        run: [swift, build, -c, release]
        inputs: [Package.swift, "Sources/**/*.swift"]
        outputs: [.build/release/coop]
      test:   {run: [swift, test], needs: [build]}
      lint:   {run: [swift, format, lint, --recursive, Sources]}
      docs:   {run: [make, docs], inputs: ["**/*.md"], outputs: [site/index.html]}
      pack:
        run: tar -czf "dist/coop-$version.tar.gz" -C .build/release coop
        needs: [build, test, lint]
        outputs: ["dist/coop-${version}.tar.gz"]
      upload:
        run: [curl, --fail, -T, "dist/coop-${version}.tar.gz", "https://files.example.org/"]
        needs: [pack, docs]
        retries: 4
        backoff: 5s
        timeout: 2m
    """#

  static let transcribe = #"""
    # transcribe.yaml - a thousand recordings, some of them broken
    flow: transcribe
    width: 8
    locks: {gpu: 1}
    steps:
      decode:
        each: "recordings/**/*.m4a"
        run: [ffmpeg, -y, -i, "${each}", "work/${each}.wav"]
        inputs: ["${each}"]
        outputs: ["work/${each}.wav"]
        retries: 1
        timeout: 5m
      transcribe:
        each: {same-as: decode}          # child by child: begins when its decode[…] has succeeded
        run: [whisper-cli, -m, models/base.bin, -f, "work/${each}.wav", -of, "text/${each}"]
        inputs: ["work/${each}.wav", models/base.bin]
        outputs: ["text/${each}.txt"]
        locks: [gpu]
        timeout: 30m
      report:
        run: find text -name '*.txt' | wc -l > report.txt
        after: [transcribe]              # also when some children failed
    """#

  static let nightly = #"""
    # nightly.yaml - from cron: coop flow run nightly.yaml --run "$(date +\%F)"
    flow: nightly
    defaults: {retries: 2, backoff: 30s, timeout: 1h}
    steps:
      databases:
        run: psql -Atc "select datname from pg_database where not datistemplate"
      dump:
        each: {lines-of: databases}
        width: 2
        run: pg_dump -Fc "$each" > "/backup/$each.dump"
        outputs: "/backup/${each}.dump"    # made again each night, because 'databases' has no outputs
      restore-test:
        run: [srun, -n1, ./restore-test, /backup]      # Slurm is a prefix of the command
        needs: [dump]
        only-if: test "$(date +%u)" = 7
      ship:    {run: [rclone, sync, /backup, "remote:backup"], needs: [dump], accept: [0, 9]}
      notify:  {run: [./notify, nightly], after: [ship, restore-test], timeout: 30s}
    """#

  static let all = ["release": release, "transcribe": transcribe, "nightly": nightly]
}
