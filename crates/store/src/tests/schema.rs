use rusqlite::Connection;
use rusqlite_migration::Migrations;

fn schema(migrations: &Migrations<'_>) -> String {
    let mut connection = Connection::open_in_memory().unwrap();
    migrations.to_latest(&mut connection).unwrap();
    let mut query = connection
        .prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY type, name")
        .unwrap();
    let schema: Vec<String> = query.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    schema.join(";\n\n")
}

#[test]
fn migrations_apply_and_the_schema_is_known() {
    insta::assert_snapshot!(schema(&crate::db::migrations()));
}

#[test]
fn the_journals_schema_is_known() {
    insta::assert_snapshot!(schema(&crate::journal::migrations()));
}
