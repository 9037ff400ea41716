//! What the homeserver brings, in whatever shape.

use parlour_domain::limits::ROOM_HISTORY;
use parlour_testkit::{Agent, Bridge, Texts, browse, homeserver::BOT};
use serde_json::{Value, json};

async fn scene() -> (Bridge, Agent, String) {
    let bridge = Bridge::start().await;
    let agent = bridge.join("Robin").await;
    bridge.caught_up().await;
    agent.look().await.unwrap();
    let lobby = bridge.lobby();
    (bridge, agent, lobby)
}

fn event(id: &str, room: &str, text: &str) -> Value {
    json!({"type": "m.room.message", "event_id": id, "room_id": room, "sender": "@ada:example.org",
        "origin_server_ts": 1, "content": {"msgtype": "m.text", "body": text}})
}

#[tokio::test]
async fn who_and_what_is_ours_is_told_from_memory() {
    let (bridge, agent, _) = scene().await;
    let (reads, calls) = (bridge.counted("parlour_store_reads_total"), bridge.hs.all_calls());
    for (about, status) in [
        (&*format!("users/{}", agent.user_id), 200),
        (&*format!("users/{BOT}"), 200),
        ("users/@agent_nobody:example.org", 404),
        ("users/@ada:example.org", 404),
        ("rooms/%23lobby:example.org", 200),
        ("rooms/%23nowhere:example.org", 404),
        ("rooms/%23lobby:example.com", 404),
    ] {
        assert_eq!(bridge.hs.ask(about).await, Some(status), "{about}");
    }
    assert_eq!((bridge.counted("parlour_store_reads_total"), bridge.hs.all_calls()), (reads, calls));
}

#[tokio::test]
async fn poison_among_good_events_is_left_out() {
    let (bridge, agent, lobby) = scene().await;
    let counted =
        || ["poison_events", "malformed_entries"].map(|n| bridge.counted(&format!("parlour_{n}_total")));
    let [poison, malformed] = counted();
    let mut nested = json!("deep");
    for _ in 0..100 {
        nested = json!([nested]);
    }
    let mut odd = event("$odd", &lobby, "odd but said");
    odd["content"]["m.mentions"] = json!({"user_ids": "no list"});
    odd["content"]["m.relates_to"] = Value::Null;
    odd["content"]["deep"] = nested;
    let mut no_sender = event("$x", &lobby, "x");
    no_sender["sender"] = json!(7);
    let mut long_id = event(&format!("${}", "x".repeat(300)), &lobby, "x");
    long_id["content"]["body"] = json!("too long an id");
    let events = json!([
        event("$one", &lobby, "one"),
        7, null, [], "text", {}, {"type": "m.room.message"},
        no_sender, long_id,
        {"type": "m.room.member", "event_id": "$m", "room_id": lobby, "sender": "@a:b", "state_key": 5, "content": []},
        {"type": "m.room.power_levels", "event_id": "$p", "room_id": lobby, "sender": "@a:b", "state_key": "",
            "content": {"users": {"@ada:example.org": "fifty"}, "redact": null}},
        odd,
        event("$elsewhere", "!unknown", "not ours"),
        event("$nul", &lobby, "a\0b"),
        event("$two", &lobby, "two"),
    ]);
    assert_eq!(bridge.hs.push_transaction("p", &json!({"events": events})).await, Some(200));
    bridge.caught_up().await;
    assert_eq!(agent.look().await.unwrap().texts(), ["one", "odd but said", "a\u{fffd}b", "two"]);
    let [more_poison, more_malformed] = counted();
    assert!(more_poison > poison && more_malformed > malformed, "both are counted");
}

#[tokio::test]
async fn what_is_no_transaction_is_refused_and_harms_nothing() {
    let (bridge, agent, lobby) = scene().await;
    for body in [&b""[..], b"[]", b"{", b"\xff\xfe", b"null", b"{\"events\": []} x"] {
        assert_eq!(bridge.hs.push_bytes("bad", body.to_vec()).await, Some(400));
    }
    for body in
        [json!({}), json!({"events": "no list"}), json!({"events": null}), json!({"events": {"a": 1}})]
    {
        assert_eq!(bridge.hs.push_transaction("odd", &body).await, Some(200));
    }
    let good = json!({"events": [event("$one", &lobby, "one")]});
    assert_eq!(bridge.hs.push_transaction("odd", &good).await, Some(200));
    bridge.caught_up().await;
    assert_eq!(agent.look().await.unwrap().texts(), ["one"]);
}

#[tokio::test]
async fn the_same_again_in_every_way_is_one_message() {
    let (mut bridge, agent, lobby) = scene().await;
    let body = json!({"events": [event("$one", &lobby, "one")]});
    let more = json!({"events": [event("$one", &lobby, "one"), event("$two", &lobby, "two")]});
    for (txn_id, body) in
        [("1000", &body), ("1000", &body), ("1001", &body), ("1000", &more), ("2000", &more)]
    {
        assert_eq!(bridge.hs.push_transaction(txn_id, body).await, Some(200));
    }
    bridge.caught_up().await;
    bridge.crash_and_restart().await;
    assert_eq!(bridge.hs.push_transaction("1000", &body).await, Some(200));
    bridge.caught_up().await;
    assert_eq!(agent.look().await.unwrap().texts(), ["one", "two"]);
}

/// It may have been written down or not; when it comes again it is there, whichever it was.
#[tokio::test]
async fn a_homeserver_that_hangs_up_in_the_middle_loses_nothing() {
    let (bridge, agent, lobby) = scene().await;
    for n in 0..40 {
        let body = json!({"events": [event(&format!("$cut{n}"), &lobby, &n.to_string())]});
        bridge.hs.push_and_hang_up(&format!("cut{n}"), &body).await;
        assert_eq!(bridge.hs.push_transaction(&format!("cut{n}"), &body).await, Some(200));
        bridge.caught_up().await;
        assert_eq!(agent.look().await.unwrap().pending, n + 1);
    }
}

#[tokio::test]
async fn ids_that_begin_again_at_one_lose_nothing() {
    let (bridge, agent, _) = scene().await;
    let ada = bridge.hs.person("ada");
    for n in 1..=3 {
        bridge.hs.forget_like_a_restart();
        ada.say(&bridge.lobby(), &n.to_string());
        bridge.caught_up().await;
    }
    assert_eq!(agent.look().await.unwrap().texts(), ["1", "2", "3"]);
}

#[tokio::test]
async fn out_of_order_is_told_by_arrival_and_none_is_lost() {
    let (bridge, agent, lobby) = scene().await;
    let one = json!({"events": [event("$one", &lobby, "one")]});
    let two = json!({"events": [event("$two", &lobby, "two")]});
    bridge.hs.push_transaction("11", &two).await;
    bridge.hs.push_transaction("10", &one).await;
    bridge.caught_up().await;
    assert_eq!(agent.look().await.unwrap().texts(), ["two", "one"]);
}

#[tokio::test]
async fn what_was_journaled_is_worked_off_after_a_crash() {
    let (mut bridge, agent, lobby) = scene().await;
    for n in 0..5 {
        let events: Vec<Value> = (0..100).map(|k| event(&format!("$e{n}x{k}"), &lobby, "x")).collect();
        assert_eq!(bridge.hs.push_transaction(&format!("t{n}"), &json!({"events": events})).await, Some(200));
    }
    // taken is on disk, wherever the working off had got to
    bridge.crash_and_restart().await;
    bridge.caught_up().await;
    assert_eq!(agent.look().await.unwrap().pending, 500);
}

#[tokio::test]
async fn more_while_the_bridge_was_down_than_is_kept() {
    let (mut bridge, agent, lobby) = scene().await;
    let ada = bridge.hs.person("ada");
    bridge.stop().await;
    for n in 1..=620 {
        ada.say(&lobby, &n.to_string());
    }
    bridge.boot().await;
    bridge.ready().await;
    bridge.caught_up().await;
    let inbox = agent.look().await.unwrap();
    assert_eq!((inbox.pending, inbox.dropped, inbox.gaps.len()), (500, 120, 0));
    let last = inbox.messages.last().unwrap().message.event_id.clone();
    assert!(agent.ack(last.as_str()).await.unwrap().acknowledged);
    let rest = agent.look().await.unwrap();
    assert_eq!(rest.dropped, 0, "counted since the last acknowledgement");
}

/// Said by one, in order, and never acknowledged: what was missed ends where the inbox begins.
#[tokio::test]
async fn while_messages_pour_in_each_is_either_held_or_missed() {
    const TOTAL: usize = 3_000;
    let (bridge, agent, lobby) = scene().await;
    let pour = async {
        for n in 0..TOTAL / 100 {
            let said = |k: usize| event(&format!("$e{k}"), &lobby, &k.to_string());
            let events: Vec<Value> = (100 * n..100 * (n + 1)).map(said).collect();
            let taken = bridge.hs.push_transaction(&format!("t{n}"), &json!({"events": events})).await;
            assert_eq!(taken, Some(200));
        }
    };
    let look = async {
        let mut missed = 0;
        while missed < TOTAL - ROOM_HISTORY {
            let inbox = agent.look().await.unwrap();
            missed = inbox.texts().first().map_or(0, |first| first.parse().unwrap());
            assert_eq!(inbox.dropped, missed, "of {} held", inbox.pending);
        }
    };
    tokio::join!(pour, look);
}

#[tokio::test]
async fn all_kinds_of_words_are_readable() {
    let (bridge, agent, lobby) = scene().await;
    let ada = bridge.hs.person("ada");
    ada.message(&lobby, json!({"msgtype": "m.emote", "body": "waves"}));
    ada.message(&lobby, json!({"msgtype": "m.notice", "body": "a notice"}));
    ada.message(&lobby, json!({"msgtype": "m.image", "body": "cat.png", "url": "mxc://x/y"}));
    ada.message(
        &lobby,
        json!({"msgtype": "m.image", "body": "my cat", "filename": "cat.png", "url": "mxc://x/y"}),
    );
    ada.message(&lobby, json!({"msgtype": "m.file", "body": "plan.pdf", "url": "mxc://x/y"}));
    ada.message(&lobby, json!({"msgtype": "m.location", "body": "the park", "geo_uri": "geo:1,2"}));
    ada.send(&lobby, "m.sticker", json!({"body": "a fox", "url": "mxc://x/y"}));
    ada.message(&lobby, json!({"msgtype": "org.example.dance", "body": "dances"}));
    ada.message(&lobby, json!({"msgtype": "m.text"}));
    ada.send(
        &lobby,
        "m.reaction",
        json!({"m.relates_to": {"rel_type": "m.annotation", "event_id": "$x", "key": "y"}}),
    );
    bridge.caught_up().await;
    let inbox = agent.look().await.unwrap();
    assert_eq!(inbox.messages.len(), 9, "all but the reaction: {:?}", inbox.texts());
    assert!(inbox.messages.iter().all(|m| !m.message.body.text.is_empty()), "{:?}", inbox.texts());
    let names: Vec<_> =
        inbox.messages.iter().filter_map(|m| m.message.body.attachment_name.as_deref()).collect();
    assert_eq!(names[..3], ["cat.png", "cat.png", "plan.pdf"]);
    assert!(inbox.texts()[3].contains("my cat"));
}

#[tokio::test]
async fn five_hundred_are_kept_and_history_ends_there() {
    let (bridge, agent, lobby) = scene().await;
    let ada = bridge.hs.person("ada");
    for n in 1..=510 {
        ada.say(&lobby, &n.to_string());
    }
    bridge.caught_up().await;
    let mut ask = browse(50);
    let mut texts = vec![];
    loop {
        let page = agent.browse(ask.clone()).await.unwrap();
        texts.extend(page.messages.texts());
        match page.next_cursor {
            Some(cursor) => ask.before = Some(cursor.to_string()),
            None => break,
        }
    }
    assert_eq!((texts.len(), texts[0].as_str(), texts[499].as_str()), (500, "510", "11"));
}
