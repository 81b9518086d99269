// SQLite's own header, what Swift cannot import because it is a cast, and what it cannot call because it takes any
// number of arguments.
#include <sqlite3.h>

// SQLite copies what is bound with it.
static inline sqlite3_destructor_type composite_sqlite_transient(void) { return SQLITE_TRANSIENT; }

// Sets one of the SQLITE_DBCONFIG_ options that are on or off.
static inline int composite_sqlite_configure(sqlite3 *database, int option, int on) {
  return sqlite3_db_config(database, option, on, (int *)0);
}

// Whether the changes of a file go to a log beside it, by its header, and without a look at that log. It is read
// through SQLite: to open and close the file oneself would take away the locks of the process's other connections.
static inline int composite_sqlite_uses_log(sqlite3 *database) {
  sqlite3_file *file = 0;
  unsigned char byte = 0;
  if (sqlite3_file_control(database, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK) return 0;
  if (!file || !file->pMethods) return 0;
  return file->pMethods->xRead(file, &byte, 1, 18) == SQLITE_OK && byte == 2;
}

// Overwrites the header of a database, so that a program that has it open and reads it later finds that it is no
// database. It is called in a transaction that has the exclusive lock. It writes through SQLite, for the reason above.
static inline void composite_sqlite_invalidate(sqlite3 *database) {
  static const char text[100] = "This database was removed before anything was put into it.\n";
  sqlite3_file *file = 0;
  if (sqlite3_file_control(database, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK) return;
  if (file && file->pMethods) file->pMethods->xWrite(file, text, sizeof text, 0);
}
