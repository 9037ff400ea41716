//! Ending an agent: at once for its token, in good time for its puppet.

use parlour_domain::fault::Code;
use parlour_testkit::{Bridge, Call, Mishap, When, eventually_is, wait};

use crate::support::{code, pass_until};

#[tokio::test]
async fn a_token_is_void_and_the_puppet_out() {
    let bridge = Bridge::start().await;
    let agent = bridge.join("Robin").await;
    agent.leave().await.unwrap();
    assert_eq!(code(agent.me().await), Code::Unauthorized);
    assert_eq!(code(agent.leave().await), Code::Unauthorized);
    assert!(!bridge.hs.is_joined(&bridge.lobby(), agent.user_id.as_str()));
    assert_eq!(bridge.lobbies()[0].online, 0);
}

#[tokio::test]
async fn a_running_wait_ends_as_unauthorized() {
    let bridge = Bridge::start().await;
    let agent = bridge.join("Robin").await;
    agent.look().await.unwrap();
    let waiting = agent.wait(wait(30));
    bridge.clock.until_sleeping_for(30_000).await;
    agent.leave().await.unwrap();
    assert_eq!(code(waiting.await), Code::Unauthorized);
}

#[tokio::test]
async fn with_the_homeserver_down_the_token_is_void_all_the_same() {
    let bridge = Bridge::start().await;
    let agent = bridge.join("Robin").await;
    bridge.hs.go_down().await;
    let leaving = agent.leave();
    eventually_is("the token is void", || bridge.knows_token(&agent.token).is_err()).await;
    bridge.clock.until_sleeping_for(5_000).await;
    bridge.clock.advance(5_000);
    leaving.await.unwrap();
    bridge.hs.come_up().await;
    let lobby = bridge.lobby();
    let out = || !bridge.hs.is_joined(&lobby, agent.user_id.as_str());
    pass_until(&bridge, "the puppet is out", out).await;
}

#[tokio::test]
async fn leaving_goes_on_after_a_restart_and_after_a_crash() {
    for crash in [false, true] {
        let mut bridge = Bridge::start().await;
        let agent = bridge.join("Robin").await;
        bridge.hs.always(Call::Leave, Mishap::bad_gateway(When::Before));
        let leaving = agent.leave();
        bridge.hs.until_called(Call::Leave, 1).await;
        if crash {
            bridge.crash().await;
        } else {
            bridge.clock.until_sleeping_for(5_000).await;
            bridge.clock.advance(5_000);
            leaving.await.unwrap();
            bridge.stop().await;
        }
        bridge.hs.recover(Call::Leave);
        bridge.boot().await;
        bridge.ready().await;
        assert_eq!(code(agent.me().await), Code::Unauthorized);
        let (lobby, user) = (bridge.lobby(), agent.user_id.to_string());
        bridge.hs.until("the puppet is out", |hs| !hs.is_joined(&lobby, &user)).await;
    }
}

#[tokio::test]
async fn a_client_that_goes_away_has_left_all_the_same() {
    let bridge = Bridge::start().await;
    let agent = bridge.join("Robin").await;
    let held = bridge.hs.hold(Call::Leave, When::Before);
    let leaving = agent.leave();
    held.arrived().await;
    leaving.go_away().await;
    held.release();
    let (lobby, user) = (bridge.lobby(), agent.user_id.to_string());
    bridge.hs.until("the puppet is out", |hs| !hs.is_joined(&lobby, &user)).await;
    assert_eq!(code(agent.me().await), Code::Unauthorized);
}

#[tokio::test]
async fn what_it_said_stays_its_word() {
    let mut bridge = Bridge::start().await;
    let (gone, here) = (bridge.join("Robin").await, bridge.join("Wren").await);
    gone.say("farewell").await.unwrap();
    gone.leave().await.unwrap();
    bridge.caught_up().await;
    bridge.restart().await;
    let inbox = here.look().await.unwrap();
    let last = inbox.messages.last().unwrap();
    assert_eq!(last.message.author.display_name(), gone.display_name);
    assert!(!last.message.author.is_person());
}
