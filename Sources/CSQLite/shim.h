// The header of SQLite, with functions for parts that Swift cannot use: a macro with a cast, and a
// variadic function.
#include <sqlite3.h>

// The destructor that makes SQLite copy bound bytes.
static inline sqlite3_destructor_type composite_sqlite_transient(void) { return SQLITE_TRANSIENT; }

// Stops counting the allocated bytes. Threads with connections of their own wait for each other at
// the mutex of these counts. Has no effect if SQLite was used before.
static inline int composite_sqlite_stop_counting_memory(void) {
  return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

// Turns an SQLITE_DBCONFIG_ option on or off.
static inline int composite_sqlite_configure(sqlite3 *database, int option, int on) {
  return sqlite3_db_config(database, option, on, (int *)0);
}

// Returns whether the header of a file says that it is in WAL mode, without reading the WAL. Reads
// through SQLite: opening and closing the file directly would release the locks of other
// connections of this process.
static inline int composite_sqlite_uses_log(sqlite3 *database) {
  sqlite3_file *file = 0;
  unsigned char byte = 0;
  if (sqlite3_file_control(database, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK) return 0;
  if (!file || !file->pMethods) return 0;
  return file->pMethods->xRead(file, &byte, 1, 18) == SQLITE_OK && byte == 2;
}

// Overwrites the header of a database, so that a program which has opened the file and reads it
// later finds that it is not a database. Must be called in a transaction with the exclusive lock.
// Writes through SQLite, for the reason above.
static inline void composite_sqlite_invalidate(sqlite3 *database) {
  static const char text[100] = "This database was removed before anything was put into it.\n";
  sqlite3_file *file = 0;
  if (sqlite3_file_control(database, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK) return;
  if (file && file->pMethods) file->pMethods->xWrite(file, text, sizeof text, 0);
}

// Returns whether the name of a database no longer belongs to the file that was opened: it was renamed or
// removed, or another file has its name.
static inline int composite_sqlite_has_moved(sqlite3 *database) {
  int has_moved = 0;
  int code = sqlite3_file_control(database, "main", SQLITE_FCNTL_HAS_MOVED, &has_moved);
  return code == SQLITE_OK && has_moved;
}
