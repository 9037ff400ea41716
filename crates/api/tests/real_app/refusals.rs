use parlour_testkit::{Bridge, Call};
use serde_json::{Value, json};

use crate::front::Front;

/// What each mistake is told, through route, use case and error table.
#[tokio::test]
async fn each_mistake_has_its_code_and_field() {
    let front = Front::start().await;
    let token = front.token("Scout").await;
    let room = front.bridge().lobby();
    let mut told = Vec::new();
    for (method, path, body) in mistakes(&room) {
        let answer = front.call(method, &path, &token, body.clone()).await;
        let body = body.map(|b| b.to_string().replace(&room, "LOBBY")).unwrap_or_default();
        let body: String = body.chars().take(60).collect();
        told.push(format!("{method} {} {body}\n    {}", path.replace(&room, "LOBBY"), answer.told()));
    }
    insta::assert_snapshot!(told.join("\n"));
    assert_eq!(front.bridge().hs.texts(&room), Vec::<String>::new(), "nothing of it was said");
}

pub(crate) fn mistakes(room: &str) -> Vec<(&'static str, String, Option<Value>)> {
    let mut all = Vec::new();
    let joins = [
        json!({"name": ""}),
        json!({"name": "a\u{0}b"}),
        json!({"name": "Parlour"}),
        json!({"name": "x".repeat(65)}),
        json!({"name": "Scout", "room": "nowhere"}),
        json!({"name": "Scout", "room": "lobby", "code": "AAAA-BBBB-CCCC"}),
        json!({"name": "Scout", "code": "AAAA-BBBB-CCCC"}),
    ];
    all.extend(joins.into_iter().map(|b| ("POST", String::new(), Some(b))));
    let sends = [
        json!({"text": ""}),
        json!({"text": "a\u{0}b"}),
        json!({"text": "x".repeat(4001)}),
        json!({"text": "Hi", "roomId": "!else:example.org"}),
        json!({"text": "Hi", "roomId": "nonsense"}),
        json!({"text": "Hi", "submissionId": "1"}),
        json!({"text": "Hi", "replyTo": "$gone"}),
        json!({"text": "Hi", "mentions": ["ada"]}),
        json!({"text": "Hi", "mentionsEveryone": true}),
    ];
    all.extend(sends.into_iter().map(|b| ("POST", "/me/messages".to_owned(), Some(b))));
    all.push(("POST", "/me/rooms".to_owned(), Some(json!({"room": "nowhere"}))));
    all.push(("POST", "/me/ack".to_owned(), Some(json!({"eventId": "$e", "roomId": "!else:example.org"}))));
    let waits = [
        "settle=31",
        "digest=0",
        "digest=1441",
        "waitFor=mentioned",
        "waitFor=mentioned,@a:x",
        "from=ada",
        "mentionsOnly=true&wake=all",
        "mentionsOnly=true&digest=5",
        "replyTo=x",
        "roomId=!else:example.org",
    ];
    all.extend(waits.map(|q| ("GET", format!("/me/messages?{q}"), None)));
    let pages =
        ["limit=0", "limit=51", "before=$a&after=$b", "around=$a&from=Ada", "before=x", "around=$gone"];
    all.extend(pages.map(|q| ("GET", format!("/me/rooms/{room}/messages?{q}"), None)));
    all.push(("GET", "/me/rooms/!else:example.org/messages".to_owned(), None));
    all.push(("GET", "/me/messages/lookup?ids=,".to_owned(), None));
    all.push(("GET", format!("/me/messages/lookup?ids={}", "$e,".repeat(21)), None));
    all.extend(private());
    all
}

fn private() -> Vec<(&'static str, String, Option<Value>)> {
    let at = |more: &str| format!("/me/private-rooms{more}");
    vec![
        ("POST", at(""), Some(json!({"name": "a\nb"}))),
        ("GET", at("/x/code"), None),
        ("PUT", at("/x/code"), None),
        ("DELETE", at("/x/code"), None),
        ("GET", at("/x/knocks"), None),
        ("PUT", at("/x/knocks/y"), None),
        ("DELETE", at("/x/knocks/y"), None),
        ("POST", at("/x/invitations"), Some(json!({"accountId": "@a:x"}))),
        ("DELETE", at("/x/agents/y"), None),
        ("DELETE", at("/x"), None),
    ]
}

#[tokio::test]
async fn a_room_that_is_not_there_names_those_that_are() {
    let front = Front::start().await;
    let answer = front.post("", "", json!({"name": "Scout", "room": "nowhere"})).await;
    assert_eq!(answer.told(), "404 room_not_found");
    assert!(answer.body["details"]["rooms"].to_string().contains("lobby"), "{answer:?}");
}

#[tokio::test]
async fn the_same_submission_with_other_words_is_a_conflict() {
    let front = Front::start().await;
    let token = front.token("Scout").await;
    let say = |text: &str| json!({"text": text, "submissionId": "01a229f1-2800-7707-8707-070707070707"});
    assert_eq!(front.post("/me/messages", &token, say("one")).await.status, 201);
    assert_eq!(front.post("/me/messages", &token, say("two")).await.told(), "409 submission_conflict");
}

#[tokio::test]
async fn a_source_that_joins_too_often_is_told_when_to_come_back() {
    let front = Front::start().await;
    for n in 0..5 {
        assert_eq!(front.join_from("10.1.1.1:1", None, &format!("Scout {n}")).await.status, 201);
    }
    let refused = front.join_from("10.1.1.1:2", None, "Scout").await;
    assert_eq!((refused.told().as_str(), refused.retry_after), ("429 rate_limited", Some(3600)));
    assert_eq!(refused.body["retryable"], true);
}

#[tokio::test]
async fn a_name_without_a_free_number_is_refused_and_no_puppet_made() {
    let mut bridge = Bridge::prepare(|_| {}).await;
    bridge.take_all_numbers("Scout").await;
    bridge.boot().await;
    bridge.ready().await;
    let registered = bridge.hs.calls(Call::Register);
    let front = Front::of(bridge, &[]);
    // also a name that only looks like it: the second has Cyrillic letters
    for name in ["Scout", "S\u{441}\u{43e}ut"] {
        let refused = front.join_from("10.1.1.1:1", None, name).await;
        assert_eq!(refused.told(), "409 name_unavailable name");
        assert_eq!((&refused.body["retryable"], refused.retry_after), (&json!(false), None));
        assert_eq!(refused.body["message"], "Every number for this name is taken. Choose another name.");
    }
    assert_eq!(front.bridge().hs.calls(Call::Register), registered);
    assert_eq!(front.join_from("10.1.1.1:1", None, "Wren").await.status, 201, "another name is free");
}

#[tokio::test]
async fn switched_off_comes_before_everything() {
    let front = Front::with(|setup| setup.settings.agents.enabled = false, &[]).await;
    for (method, path) in
        [("POST", ""), ("GET", "/rooms"), ("GET", "/me"), ("DELETE", "/me"), ("POST", "/me/messages")]
    {
        assert_eq!(
            front.call(method, path, "void", Some(json!(5))).await.told(),
            "503 disabled",
            "{method} {path}"
        );
    }
}
