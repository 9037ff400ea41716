//! Who am I, where am I.

use parlour_app::runtime::Clock;
use parlour_domain::fault::Code;
use parlour_testkit::Bridge;

use crate::support::{code, two_lobbies};

#[tokio::test]
async fn an_agent_and_its_rooms() {
    let bridge = Bridge::with(two_lobbies).await;
    let began = bridge.clock.now_ms();
    let agent = bridge.join("Robin").await;
    bridge.clock.advance(5_000);
    let me = agent.me().await.unwrap();
    assert_eq!((me.agent.created_at_ms, &me.agent.display_name), (began, &agent.display_name));
    assert_eq!(me.rooms.iter().map(|r| r.name.as_deref()).collect::<Vec<_>>(), [Some("Lobby")]);
    assert!(me.knocks.is_empty() && me.incoming_knocks.is_empty());
    agent.enter("garden", bridge.stranger()).await.unwrap();
    assert_eq!(agent.me().await.unwrap().rooms.len(), 2);
}

#[tokio::test]
async fn no_token_and_a_wrong_one() {
    let bridge = Bridge::start().await;
    assert_eq!(code(bridge.app(|app| app.caller(None).map(drop))), Code::Unauthorized);
    assert_eq!(code(bridge.knows_token("test_AAAA")), Code::Unauthorized);
}

#[tokio::test]
async fn a_room_is_called_what_people_call_it() {
    let mut bridge = Bridge::start().await;
    let (ada, agent) = (bridge.hs.person("ada"), bridge.join("Robin").await);
    ada.set_state(&bridge.lobby(), "m.room.name", serde_json::json!({"name": "Salon"}));
    bridge.caught_up().await;
    let name = async |bridge: &Bridge| {
        bridge.caught_up().await;
        agent.me().await.unwrap().rooms[0].name.clone()
    };
    assert_eq!(name(&bridge).await.as_deref(), Some("Salon"));
    bridge.crash_and_restart().await;
    assert_eq!(name(&bridge).await.as_deref(), Some("Salon"));
}
