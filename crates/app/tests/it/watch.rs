//! Looking into the lobbies from outside.

use std::sync::Arc;

use parlour_app::{
    App, Watching,
    request::Source,
    view::{Answers, Line, News},
};
use parlour_domain::{fault::Code, source::SourceKey};
use parlour_testkit::{Bridge, Person, Texts, browse, homeserver::RoomSetup, within};
use serde_json::json;

use super::support::{code, settled, two_lobbies};

struct Scene {
    bridge: Bridge,
    ada: Person,
    lobby: String,
}

async fn scene() -> Scene {
    let bridge = Bridge::start().await;
    let (ada, lobby) = (bridge.hs.person("ada"), bridge.lobby());
    ada.join(&lobby);
    ada.rename("Ada");
    bridge.caught_up().await;
    Scene { bridge, ada, lobby }
}

fn app(bridge: &Bridge) -> Arc<App> {
    bridge.app(Arc::clone)
}

async fn watch(bridge: &Bridge, after: Option<&str>) -> Watching {
    app(bridge).watch(None, after, Source(SourceKey([1; 16]))).await.unwrap()
}

async fn next(watching: &mut Watching) -> Vec<String> {
    within("there is news", watching.next()).await.expect("it goes on").iter().map(told).collect()
}

fn text(line: &Line) -> String {
    line.pieces.iter().map(|p| p.text.as_str()).collect()
}

fn told(news: &News) -> String {
    match news {
        News::Reset => "reset".to_owned(),
        News::Added { line, before, .. } => {
            format!(
                "{}: {}{}",
                line.speaker.name,
                text(line),
                if before.is_some() { " (before)" } else { "" }
            )
        }
        News::Changed { line, .. } => format!("now {}", text(line)),
        News::Removed(_) => "removed".to_owned(),
        News::Expired(_) => "expired".to_owned(),
        News::Kept(ids) => format!("kept {}", ids.len()),
    }
}

async fn lines(bridge: &Bridge) -> Vec<Arc<Line>> {
    app(bridge).look_in(None, None).await.unwrap().lines
}

async fn texts(bridge: &Bridge) -> Vec<String> {
    lines(bridge).await.iter().map(|l| text(l)).collect()
}

#[tokio::test]
async fn words_edits_and_deletions_come_as_they_happen() {
    let s = scene().await;
    s.ada.say(&s.lobby, "before");
    s.bridge.caught_up().await;
    let mut watching = watch(&s.bridge, None).await;
    assert_eq!(next(&mut watching).await, ["reset", "Ada: before"]);
    let agent = s.bridge.join("Robin").await;
    agent.say("I am here").await.unwrap();
    let name = agent.me().await.unwrap().agent.display_name;
    assert_eq!(next(&mut watching).await, [format!("{name}: I am here")]);
    let said = s.ada.say(&s.lobby, "helo");
    assert_eq!(next(&mut watching).await, ["Ada: helo"]);
    s.ada.edit(&s.lobby, &said, "hello");
    assert_eq!(next(&mut watching).await, ["now hello"]);
    s.ada.redact(&s.lobby, &said);
    assert_eq!(next(&mut watching).await, ["removed"]);
    assert_eq!(texts(&s.bridge).await, ["before", "I am here"]);
}

#[tokio::test]
async fn a_quotation_goes_with_what_it_quotes() {
    let s = scene().await;
    let said = s.ada.say(&s.lobby, "regretted");
    s.ada.reply(&s.lobby, &said, "indeed");
    s.bridge.caught_up().await;
    let answers = lines(&s.bridge).await[1].answers.clone();
    assert!(matches!(answers, Some(Answers::Known { excerpt, .. }) if excerpt == "regretted"));
    let mut watching = watch(&s.bridge, None).await;
    next(&mut watching).await;
    s.ada.redact(&s.lobby, &said);
    assert_eq!(next(&mut watching).await, ["removed", "now indeed"]);
    assert_eq!(lines(&s.bridge).await[0].answers, Some(Answers::Unknown));
}

#[tokio::test]
async fn mentions_are_shown_by_name_and_an_edit_is_marked() {
    let s = scene().await;
    let agent = s.bridge.join("Robin").await;
    let me = agent.me().await.unwrap().agent;
    let named = format!("{}: look", me.display_name);
    let said = s.ada.say_to(&s.lobby, me.user_id.as_str(), &named);
    s.ada.say_to(&s.lobby, me.user_id.as_str(), "you there");
    s.ada.edit(&s.lobby, &said, &named.replace("look", "see"));
    s.bridge.caught_up().await;
    let lines = lines(&s.bridge).await;
    let marked: Vec<_> = lines[0].pieces.iter().filter(|p| p.mention).map(|p| p.text.as_str()).collect();
    assert_eq!((marked, lines[0].edited), (vec![me.display_name.as_str()], true));
    assert_eq!((lines[1].to.clone(), lines[1].edited), (vec![me.display_name], false));
}

/// The cursor of the last message told of.
fn cursor(news: &[News]) -> String {
    let mut cursors = news.iter().filter_map(|n| match n {
        News::Added { cursor, .. } => Some(cursor.clone()),
        _ => None,
    });
    cursors.next_back().unwrap()
}

#[tokio::test]
async fn who_comes_back_misses_nothing_and_gets_nothing_twice() {
    let mut s = scene().await;
    let first = s.ada.say(&s.lobby, "one");
    let second = s.ada.say(&s.lobby, "two");
    s.ada.say(&s.lobby, "three");
    s.bridge.caught_up().await;
    let mut watching = watch(&s.bridge, None).await;
    let cursor = cursor(&within("news", watching.next()).await.unwrap());
    drop(watching);
    s.ada.edit(&s.lobby, &first, "one and a half");
    s.ada.redact(&s.lobby, &second);
    s.ada.say(&s.lobby, "four");
    s.bridge.caught_up().await;
    let expected = ["kept 2", "now one and a half", "Ada: four"];
    assert_eq!(next(&mut watch(&s.bridge, Some(&cursor)).await).await, expected);
    s.bridge.crash_and_restart().await;
    assert_eq!(next(&mut watch(&s.bridge, Some(&cursor)).await).await, expected);
    s.ada.redact(&s.lobby, &first);
    s.bridge.caught_up().await;
    assert_eq!(next(&mut watch(&s.bridge, Some(&cursor)).await).await, ["kept 1", "Ada: four"]);
    for odd in ["", "4711", &cursor[1..]] {
        let told = next(&mut watch(&s.bridge, Some(odd)).await).await;
        assert_eq!(told, ["reset", "Ada: three", "Ada: four"], "{odd:?}");
    }
}

#[tokio::test]
async fn nothing_private_is_shown() {
    let s = scene().await;
    let owner = settled(&s.bridge, "Owner").await;
    let made = owner.make_room("Secret room").await.unwrap();
    let number = made.access.room.catalog_id.to_string();
    let mut watching = watch(&s.bridge, None).await;
    assert_eq!(next(&mut watching).await, ["reset"]);
    let private = s.ada.make_room(&RoomSetup::default());
    s.ada.say(&private, "not for you");
    s.ada.say(&s.lobby, "for all");
    assert_eq!(next(&mut watching).await, ["Ada: for all"]);
    let app = app(&s.bridge);
    let unknown = "0199aaaa-0000-7000-8000-000000000001";
    for text in [number.as_str(), unknown, "Secret room", "", private.as_str()] {
        assert_eq!(code(app.look_in(Some(text), None).await), Code::RoomNotFound, "{text}");
        let refused = app.watch(Some(text), None, Source(SourceKey([1; 16]))).await.err().unwrap();
        assert_eq!(refused.code, Code::RoomNotFound, "{text}");
    }
    assert!(app.watchable().iter().all(|l| l.number.to_string() != number));
}

#[tokio::test]
async fn only_what_everybody_may_read_is_shown() {
    let s = scene().await;
    let state = |kind: &str, key: &str, value: &str| s.ada_state(kind, json!({ key: value }));
    s.ada.say(&s.lobby, "world readable");
    state("m.room.history_visibility", "history_visibility", "shared");
    s.ada.say(&s.lobby, "shared");
    state("m.room.history_visibility", "history_visibility", "joined");
    s.ada.say(&s.lobby, "for those inside");
    s.bridge.caught_up().await;
    assert_eq!(texts(&s.bridge).await, ["world readable", "shared"]);
    let mut watching = watch(&s.bridge, None).await;
    next(&mut watching).await;
    state("m.room.join_rules", "join_rule", "invite");
    assert_eq!(next(&mut watching).await, ["removed"]);
    assert_eq!(texts(&s.bridge).await, ["world readable"]);
    state("m.room.encryption", "algorithm", "m.megolm.v1.aes-sha2");
    assert_eq!(next(&mut watching).await, ["removed"]);
    assert_eq!(texts(&s.bridge).await, Vec::<String>::new());
}

impl Scene {
    fn ada_state(&self, kind: &str, content: serde_json::Value) {
        self.ada.set_state(&self.lobby, kind, content);
    }
}

#[tokio::test]
async fn a_watcher_is_nobody() {
    let s = scene().await;
    let agent = settled(&s.bridge, "Robin").await;
    let members = s.bridge.hs.members(&s.lobby);
    let mut watching = watch(&s.bridge, None).await;
    next(&mut watching).await;
    s.ada.say(&s.lobby, "hello");
    next(&mut watching).await;
    assert_eq!(s.bridge.hs.members(&s.lobby), members);
    assert_eq!(s.bridge.lobbies()[0].online, 1);
    assert_eq!(agent.look().await.unwrap().texts(), ["hello"]);
    assert_eq!(agent.browse(browse(5)).await.unwrap().messages.texts(), ["hello"]);
}

#[tokio::test]
async fn several_lobbies_are_one_stream_or_several() {
    let bridge = Bridge::with(two_lobbies).await;
    let (ada, lobby) = (bridge.hs.person("ada"), bridge.lobby());
    let garden = bridge.hs.room("garden").unwrap();
    for room in [&lobby, &garden] {
        ada.join(room);
    }
    let mut all = watch(&bridge, None).await;
    next(&mut all).await;
    let source = Source(SourceKey([1; 16]));
    let mut one = app(&bridge).watch(Some("garden"), None, source).await.unwrap();
    next(&mut one).await;
    ada.say(&lobby, "in the lobby");
    assert_eq!(next(&mut all).await.len(), 1);
    ada.say(&garden, "in the garden");
    assert_eq!(next(&mut all).await.len(), 1);
    let news = within("news", one.next()).await.unwrap();
    assert!(matches!(&news[..], [News::Added { line, .. }] if line.lobby == "garden"));
    assert_eq!(texts(&bridge).await, ["in the lobby", "in the garden"]);
}

#[tokio::test]
async fn pages_of_the_past_lead_to_the_first_message() {
    let s = scene().await;
    let count = 120;
    for n in 0..count {
        s.ada.say(&s.lobby, &n.to_string());
    }
    s.bridge.caught_up().await;
    let app = app(&s.bridge);
    let (mut before, mut all) = (None, vec![]);
    loop {
        let look = app.look_in(Some("lobby"), before.as_deref()).await.unwrap();
        all.splice(0..0, look.lines.iter().map(|l| text(l)));
        before = Some(look.lines[0].id.clone());
        if !look.earlier {
            break;
        }
    }
    assert_eq!(all, (0..count).map(|n| n.to_string()).collect::<Vec<_>>());
    assert_eq!(code(app.look_in(None, Some("nothing")).await), Code::MessageNotFound);
}

#[tokio::test]
async fn a_stop_ends_it() {
    let mut s = scene().await;
    let mut watching = watch(&s.bridge, None).await;
    next(&mut watching).await;
    let end = within("the stream ends", async move { watching.next().await });
    let (news, ()) = tokio::join!(end, s.bridge.stop());
    assert!(news.is_none());
}
