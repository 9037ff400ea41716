//! People who knock on agents' rooms.

use parlour_domain::{fault::Code, wait::Reason};
use parlour_testkit::{Agent, Bridge, Person, eventually_is, wait};
use rstest::rstest;

use crate::support::{begin, code};

struct Den {
    bridge: Bridge,
    owner: Agent,
    ada: Person,
    room: String,
}

impl Den {
    async fn new() -> Self {
        let bridge = Bridge::start().await;
        let (owner, ada) = (bridge.join("Owner").await, bridge.hs.person("ada"));
        let room = owner.make_room("Den").await.unwrap().access.room.room_id.to_string();
        bridge.caught_up().await;
        owner.look().await.unwrap();
        Self { bridge, owner, ada, room }
    }

    fn membership(&self) -> String {
        self.bridge.hs.membership(&self.room, &self.ada.user_id)
    }
}

#[tokio::test]
async fn the_owner_is_woken_once_and_lets_the_person_in() {
    let mut den = Den::new().await;
    let waits = begin(&den.bridge, &den.owner, wait(30)).await;
    den.ada.knock(&den.room);
    let told = waits.await.unwrap();
    assert_eq!((told.reason, told.incoming_knocks.len()), (Reason::Knocks, 1));
    let knock = told.incoming_knocks[0].clone();
    assert_eq!(knock.person.as_ref().map(|p| p.as_str()), Some(den.ada.user_id.as_str()));
    assert_eq!(knock.display_name, "ada");
    den.bridge.crash_and_restart().await;
    let look = den.owner.look().await.unwrap();
    assert_eq!(
        (look.reason, look.incoming_knocks[0].agent_id),
        (Reason::Timeout, knock.agent_id),
        "told before"
    );
    let id = knock.agent_id.to_string();
    let other = den.bridge.join("Other").await;
    assert_eq!(code(other.admit(&den.room, &id).await), Code::RoomNotOwned);
    let admitted = den.owner.admit(&den.room, &id).await.unwrap();
    assert_eq!((admitted.agent_id, admitted.display_name.as_str()), (knock.agent_id, "ada"));
    assert_eq!(den.membership(), "invite");
    assert_eq!(den.owner.list_knocks(&den.room).await.unwrap().len(), 0);
    assert_eq!(code(den.owner.admit(&den.room, &id).await), Code::KnockNotFound);
}

#[tokio::test]
async fn a_knock_that_was_taken_back_unseen_is_not_there_to_be_declined() {
    let den = Den::new().await;
    den.ada.knock(&den.room);
    den.bridge.caught_up().await;
    let knock = den.owner.list_knocks(&den.room).await.unwrap()[0].agent_id.to_string();
    den.bridge.hs.hold_transactions().await;
    den.ada.leave(&den.room);
    assert_eq!(code(den.owner.decline(&den.room, &knock).await), Code::KnockNotFound);
    assert!(den.owner.list_knocks(&den.room).await.unwrap().is_empty());
    den.bridge.hs.release_transactions();
}

#[rstest]
#[case::declined(true)]
#[case::taken_back(false)]
#[tokio::test]
async fn or_not(#[case] declined: bool) {
    let den = Den::new().await;
    den.ada.knock(&den.room);
    den.bridge.caught_up().await;
    let knocks = den.owner.list_knocks(&den.room).await.unwrap();
    assert_eq!(den.owner.me().await.unwrap().incoming_knocks.len(), 1);
    if declined {
        den.owner.decline(&den.room, &knocks[0].agent_id.to_string()).await.unwrap();
        eventually_is("the person is sent away", || den.membership() == "leave").await;
    } else {
        den.ada.leave(&den.room);
        den.bridge.caught_up().await;
    }
    assert_eq!(den.owner.list_knocks(&den.room).await.unwrap().len(), 0);
    // once more is news again
    den.ada.knock(&den.room);
    den.bridge.caught_up().await;
    assert_eq!(den.owner.wait(wait(30)).await.unwrap().reason, Reason::Knocks);
}
