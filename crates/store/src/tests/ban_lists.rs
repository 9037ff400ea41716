use std::collections::BTreeSet;

use parlour_domain::ban_list::{Kind, Rule};
use ruma::{owned_room_id, owned_user_id};

use super::fixture::{Fixture, operator};
use crate::{BanList, ListedBan};

fn list(name: &str, rules: &[(Kind, &str)]) -> BanList {
    let rule = |(kind, entity): &(Kind, &str)| Rule { kind: *kind, entity: (*entity).to_owned() };
    let rules: BTreeSet<_> = rules.iter().map(rule).collect();
    BanList { name: name.to_owned(), room_id: owned_room_id!("!bans:x"), rules }
}

#[test]
fn a_list_is_what_was_read_last_until_it_is_dropped() {
    let store = Fixture::new();
    let (first, other) = (list("#a:x", &[(Kind::User, "@*:y"), (Kind::Room, "!r:y")]), list("!b", &[]));
    for list in [&first, &other] {
        let list = list.clone();
        store.write(move |tx| tx.put_ban_list(&list));
    }
    assert_eq!(store.read(|r| r.ban_lists()), [other.clone(), first]);
    let newer = list("#a:x", &[(Kind::Server, "y"), (Kind::User, "@*:y")]);
    let kept = newer.clone();
    store.write(move |tx| tx.put_ban_list(&kept));
    let store = store.reopened();
    assert_eq!(store.read(|r| r.ban_lists()), [other.clone(), newer]);
    store.write(|tx| tx.drop_ban_list("#a:x"));
    assert_eq!(store.read(|r| r.ban_lists()), [other]);
}

#[test]
fn whom_we_banned_is_known_until_it_is_lifted() {
    let store = Fixture::new();
    let room = store.read(|r| r.rooms())[0].room.key;
    let ban = ListedBan { room, user_id: owned_user_id!("@eve:x") };
    for _ in 0..2 {
        let ban = ban.clone();
        store.write(move |tx| tx.put_listed_ban(&ban));
    }
    assert_eq!(store.read(|r| r.listed_bans()), std::slice::from_ref(&ban));
    let (set, gone) = (ban.clone(), ban);
    store.write(move |tx| tx.listed_ban_is_set(&set, &operator(7)));
    store.write(move |tx| tx.drop_listed_ban(&gone, Some(&operator(8))));
    assert_eq!(store.read(|r| r.listed_bans()), []);
    let deeds = store.read(|r| r.audit(7, 10)).into_iter().map(|row| (row.deed.as_str(), row.user));
    let eve = || Some(owned_user_id!("@eve:x"));
    assert_eq!(deeds.collect::<Vec<_>>(), [("ban_lifted", eve()), ("member_banned", eve())]);
}
