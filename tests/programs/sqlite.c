// Two writers and two readers, each with a connection of its own, on one database in write-ahead mode.
//   sqlite DATABASE [ROWS]
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "sqlite3.h"

enum { ROWS_AT_FIRST = 1000, ROWS_FOR_A_READ = 3 };
static const char *path;
static int rows_of_a_writer = 300;
static int counts[2];

static sqlite3 *open_database(void) {
  sqlite3 *database;
  if (sqlite3_open(path, &database) != SQLITE_OK) {
    exit(2);
  }
  sqlite3_busy_timeout(database, 20000);
  return database;
}

static void must(sqlite3 *database, const char *statement) {
  if (sqlite3_exec(database, statement, 0, 0, 0) != SQLITE_OK) {
    printf("%s: %s\n", statement, sqlite3_errmsg(database));
    exit(2);
  }
}

static void *write_rows(void *unused) {
  sqlite3 *database = open_database();
  for (int i = 0; i < rows_of_a_writer; i += 10) {
    must(database, "begin immediate");
    for (int j = 0; j < 10; j++) {
      must(database, "insert into t(text) values (hex(randomblob(20)))");
    }
    must(database, "commit");
  }
  sqlite3_close(database);
  return unused;
}

// Nothing is deleted. How long it takes does not depend on how many rows there are by now.
static int count_rows(sqlite3 *database) {
  sqlite3_stmt *statement;
  int count = -1;
  sqlite3_prepare_v2(database, "select max(id), sum(length(text)) from (select * from t order by id desc limit 1000)", -1, &statement, 0);
  if (sqlite3_step(statement) == SQLITE_ROW) {
    count = sqlite3_column_int(statement, 0);
  }
  sqlite3_finalize(statement);
  return count;
}

static void *read_rows(void *count) {
  sqlite3 *database = open_database();
  for (int i = 0; i < rows_of_a_writer / ROWS_FOR_A_READ; i++) {
    int now = count_rows(database);
    if (now < *(int *)count) {
      exit(3);
    }
    *(int *)count = now;
  }
  sqlite3_close(database);
  return 0;
}

int main(int count, char **arguments) {
  pthread_t threads[4];
  path = arguments[1];
  if (count > 2) {
    rows_of_a_writer = atoi(arguments[2]);
  }
  unlink(path);
  sqlite3_config(SQLITE_CONFIG_MULTITHREAD);
  sqlite3 *database = open_database();
  must(database, "pragma journal_mode = wal");
  must(database, "pragma synchronous = off");
  must(database, "create table t(id integer primary key, text)");
  must(database, "insert into t(text) with recursive n(i) as (values(1) union all select i + 1 from n where i < 1000) "
                 "select hex(randomblob(20)) from n");
  for (int i = 0; i < 2; i++) {
    pthread_create(&threads[i], 0, write_rows, 0);
    pthread_create(&threads[2 + i], 0, read_rows, &counts[i]);
  }
  for (int i = 0; i < 4; i++) {
    pthread_join(threads[i], 0);
  }
  int rows = count_rows(database);
  sqlite3_close(database);
  printf("%d rows\n", rows);
  return rows != ROWS_AT_FIRST + 2 * rows_of_a_writer;
}
