use parlour_app::runtime::Clock;
use parlour_domain::{
    ids::AgentId,
    names::{AgentName, NUMBERS, display_name},
};
use parlour_store::NewAgent;
use ruma::UserId;

use crate::{
    Bridge,
    homeserver::{PUPPET_PREFIX, SERVER_NAME},
};

impl Bridge {
    /// Every number of a name belongs to an agent that lives, while the bridge does not run. Straight into the store: ten
    /// thousand joins would take minutes.
    pub async fn take_all_numbers(&self, name: &str) {
        let name = AgentName::parse(name, &[]).expect("a name");
        let (store, now_ms) = (self.store_at_rest(), self.clock.now_ms());
        let taken = store.write(move |tx| {
            (0..NUMBERS).try_for_each(|number| {
                let agent = tx.add_agent(&holder(&name, number, now_ms))?;
                tx.agent_is_live(agent, now_ms)
            })
        });
        taken.await.expect("they are written down");
        tokio::task::spawn_blocking(move || store.close()).await.expect("it closes");
    }
}

fn holder(name: &AgentName, number: u16, now_ms: i64) -> NewAgent {
    let mut unique = [0; 32];
    unique[..2].copy_from_slice(&number.to_be_bytes());
    let mut chance = [0; 10];
    chance[8..].copy_from_slice(&number.to_be_bytes());
    let user_id = format!("@{PUPPET_PREFIX}holder{number:04}:{SERVER_NAME}");
    NewAgent {
        id: AgentId::new(now_ms, chance),
        user_id: UserId::parse(user_id).expect("a user id"),
        display_name: display_name(name, number),
        likeness: name.likeness(),
        number,
        token_digest: unique,
        created_at_ms: now_ms,
    }
}
