// The least that the rules of flow files demand of a run, in C: how near to it is `coop flow run`?
//
//     floor commands FOLDER N                      N times `true`, two at a time
//     floor current FLOW.yaml STATE.sqlite         a run of a flow whose steps are all up to date
//
// `commands`: each command has a log file with a line before its output, and a session of its own. Its success is on the
// disk, in one transaction with those that end meanwhile. `current`: the file is read with libyaml, the records of the
// successes with SQLite, and each input and output is looked at. Nothing is checked or compared, and nothing decided.
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <yaml.h>

extern char **environ;

static sqlite3 *database;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t has_ended = PTHREAD_COND_INITIALIZER;
static int *ended, ended_count, total;

static void check(int is_right, const char *what) {
  if (is_right) return;
  fprintf(stderr, "%s: %s\n", what, database ? sqlite3_errmsg(database) : "failed");
  exit(1);
}

static sqlite3_stmt *prepared(const char *sql) {
  sqlite3_stmt *statement;
  check(sqlite3_prepare_v2(database, sql, -1, &statement, 0) == SQLITE_OK, sql);
  return statement;
}

static void execute(const char *sql) { check(sqlite3_exec(database, sql, 0, 0, 0) == SQLITE_OK, sql); }

static void *store(void *unused) {
  sqlite3_stmt *insert = prepared("INSERT INTO success VALUES (?1, ?2, ?3, ?4)");
  for (int stored = 0; stored < total;) {
    pthread_mutex_lock(&lock);
    while (ended_count == stored) pthread_cond_wait(&has_ended, &lock);
    int count = ended_count;
    pthread_mutex_unlock(&lock);
    execute("BEGIN IMMEDIATE");
    for (; stored < count; stored++) {
      char name[16];
      snprintf(name, sizeof name, "s%d", ended[stored]);
      sqlite3_bind_text(insert, 1, name, -1, SQLITE_TRANSIENT);
      sqlite3_bind_text(insert, 2, "{\"accept\":[0],\"env\":{},\"run\":[[\"true\"]]}", -1, SQLITE_STATIC);
      sqlite3_bind_int(insert, 3, stored);
      sqlite3_bind_int64(insert, 4, time(0));
      check(sqlite3_step(insert) == SQLITE_DONE, "INSERT");
      sqlite3_reset(insert);
    }
    execute("COMMIT");
  }
  return unused;
}

static pid_t start(int number, int empty, const posix_spawnattr_t *attributes) {
  char path[32], line[64], date[32];
  snprintf(path, sizeof path, "s%d.log", number);
  int log = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  check(log >= 0, path);
  time_t now = time(0);
  strftime(date, sizeof date, "%F %T", localtime(&now));
  int length = snprintf(line, sizeof line, "=== 1, %s: true\n", date);
  check(write(log, line, length) == length, path);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, empty, 0);
  posix_spawn_file_actions_adddup2(&actions, log, 1);
  posix_spawn_file_actions_adddup2(&actions, log, 2);
  char *words[] = {"true", 0};
  pid_t process;
  check(posix_spawnp(&process, "true", &actions, attributes, words, environ) == 0, "true");
  posix_spawn_file_actions_destroy(&actions);
  close(log);
  return process;
}

static void run_commands(const char *folder, int count) {
  total = count;
  ended = calloc(total, sizeof *ended);
  check(chdir(folder) == 0, folder);
  check(sqlite3_open("state.sqlite", &database) == SQLITE_OK, folder);
  execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
          "CREATE TABLE success (step TEXT PRIMARY KEY, definition TEXT, number INTEGER, ended INTEGER)");
  pthread_t thread;
  pthread_create(&thread, 0, store, 0);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
  int empty = open("/dev/null", O_RDONLY | O_CLOEXEC);
  struct { pid_t process; int number; } slots[2] = {{0}};
  for (int next = 0, finished = 0; finished < total;) {
    for (int slot = 0; slot < 2; slot++) {
      if (slots[slot].process || next == total) continue;
      slots[slot].number = next;
      slots[slot].process = start(next++, empty, &attributes);
    }
    int status;
    pid_t process = waitpid(-1, &status, 0);
    for (int slot = 0; slot < 2; slot++) {
      if (slots[slot].process != process) continue;
      slots[slot].process = 0;
      finished++;
      pthread_mutex_lock(&lock);
      ended[ended_count++] = slots[slot].number;
      pthread_cond_signal(&has_ended);
      pthread_mutex_unlock(&lock);
    }
  }
  pthread_join(thread, 0);
}

static void look(const char *files) {
  // A line for each file: the size, the time, the inode and the path.
  for (const char *line = files; *line;) {
    const char *path = line, *end = strchrnul(line, '\n');
    for (int space = 0; space < 3 && path < end; path++) space += *path == ' ';
    char name[4096];
    snprintf(name, sizeof name, "%.*s", (int)(end - path), path);
    struct stat status;
    check(stat(name, &status) == 0, name);
    line = *end ? end + 1 : end;
  }
}

static void run_current(const char *flow, const char *state) {
  yaml_parser_t parser;
  yaml_parser_initialize(&parser);
  FILE *file = fopen(flow, "rb");
  check(file != 0, flow);
  yaml_parser_set_input_file(&parser, file);
  for (int is_end = 0; !is_end;) {
    yaml_event_t event;
    check(yaml_parser_parse(&parser, &event), flow);
    // A model of the file has its texts.
    if (event.type == YAML_SCALAR_EVENT) check(strdup((char *)event.data.scalar.value) != 0, flow);
    is_end = event.type == YAML_STREAM_END_EVENT;
    yaml_event_delete(&event);
  }
  check(sqlite3_open(state, &database) == SQLITE_OK, state);
  sqlite3_stmt *records = prepared(
      "SELECT step, definition, used, made, inputs, outputs FROM flow_success ORDER BY step");
  while (sqlite3_step(records) == SQLITE_ROW) {
    for (int column = 0; column < 4; column++) check(sqlite3_column_text(records, column) != 0, state);
    look((const char *)sqlite3_column_text(records, 4));
    look((const char *)sqlite3_column_text(records, 5));
  }
}

int main(int count, char **arguments) {
  if (count == 4 && !strcmp(arguments[1], "commands")) {
    run_commands(arguments[2], atoi(arguments[3]));
  } else if (count == 4 && !strcmp(arguments[1], "current")) {
    run_current(arguments[2], arguments[3]);
  } else {
    fprintf(stderr, "expected: commands FOLDER N, or current FLOW.yaml STATE.sqlite\n");
    return 64;
  }
  return 0;
}
