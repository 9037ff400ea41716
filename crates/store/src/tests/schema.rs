use crate::db::migrations;

#[test]
fn migrations_apply_and_the_schema_is_known() {
    let mut connection = rusqlite::Connection::open_in_memory().unwrap();
    migrations().to_latest(&mut connection).unwrap();
    let mut query = connection
        .prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY type, name")
        .unwrap();
    let schema: Vec<String> = query.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    insta::assert_snapshot!(schema.join(";\n\n"));
}
