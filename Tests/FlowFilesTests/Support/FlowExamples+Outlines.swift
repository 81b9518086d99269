/// The models of the examples. A text is followed by its line and column.
extension FlowExamples {
  static let outlines = [
    "release": #"""
    flow release
    value version = dev @3:10
    step build @6:3
      run swift@7:11 build@7:18 -c@7:25 release@7:29
      input Package.swift@8:14
      input Sources/**/*.swift@8:29
      output .build/release/coop@9:15
      timeout 1200.0 seconds
    step test @10:3
      run swift@10:18 test@10:25
      needs build @10:40
      timeout 1200.0 seconds
    step lint @11:3
      run swift@11:18 format@11:25 lint@11:33 --recursive@11:39 Sources@11:52
      timeout 1200.0 seconds
    step docs @12:3
      run make@12:18 docs@12:24
      input **/*.md@12:40
      output site/index.html@12:62
      timeout 1200.0 seconds
    step pack @13:3
      run shell tar -czf "dist/coop-$version.tar.gz" -C .build/release coop
      needs build @15:13
      needs test @15:20
      needs lint @15:26
      output dist/coop-<version>.tar.gz@16:15
      timeout 1200.0 seconds
    step upload @17:3
      run curl@18:11 --fail@18:17 -T@18:25 dist/coop-<version>.tar.gz@18:29 https://files.example.org/@18:60
      needs pack @19:13
      needs docs @19:19
      retries 4
      backoff 5.0 seconds
      timeout 120.0 seconds
    """#,
    "transcribe": #"""
    flow transcribe
    width 8
    lock gpu 1
    step decode @6:3
      run ffmpeg@8:11 -y@8:19 -i@8:23 <each>@8:27 work/<each>.wav@8:38
      each glob recordings/**/*.m4a@7:11
      input <each>@9:14
      output work/<each>.wav@10:15
      retries 1
      timeout 300.0 seconds
    step transcribe @13:3
      run whisper-cli@15:11 -m@15:24 models/base.bin@15:28 -f@15:45 work/<each>.wav@15:49 -of@15:69 text/<each>@15:74
      each same-as decode @14:21
      input work/<each>.wav@16:14
      input models/base.bin@16:34
      output text/<each>.txt@17:15
      timeout 1800.0 seconds
      lock gpu 1 @18:13
    step report @20:3
      run shell find text -name '*.txt' | wc -l > report.txt
      after transcribe @22:13
    """#,
    "nightly": #"""
    flow nightly
    step databases @5:3
      run shell psql -Atc "select datname from pg_database where not datistemplate"
      retries 2
      backoff 30.0 seconds
      timeout 3600.0 seconds
    step dump @7:3
      run shell pg_dump -Fc "$each" > "/backup/$each.dump"
      each lines-of databases @8:22
      width 2
      output /backup/<each>.dump@11:14
      retries 2
      backoff 30.0 seconds
      timeout 3600.0 seconds
    step restore-test @12:3
      run srun@13:11 -n1@13:17 ./restore-test@13:22 /backup@13:38
      needs dump @14:13
      only-if shell test "$(date +%u)" = 7
      retries 2
      backoff 30.0 seconds
      timeout 3600.0 seconds
    step ship @16:3
      run rclone@16:19 sync@16:27 /backup@16:33 remote:backup@16:42
      needs dump @16:68
      retries 2
      backoff 30.0 seconds
      timeout 3600.0 seconds
      accept [0, 9]
    step notify @17:3
      run ./notify@17:19 nightly@17:29
      after ship @17:47
      after restore-test @17:53
      retries 2
      backoff 30.0 seconds
      timeout 30.0 seconds
    """#,
  ]
}
