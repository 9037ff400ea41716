use parlour_domain::ids::AgentKey;

use super::fixture::{Fixture, OTHER_AGENT, SCOUT_KEY, operator};
use crate::Look::{self, About, Picture};

const BEFORE_ALL: AgentKey = AgentKey(0);

fn next(store: &Fixture, look: Look, after: AgentKey) -> Option<(AgentKey, Option<String>)> {
    store.read(move |r| r.next_plain(look, after)).map(|plain| (plain.agent, plain.picture))
}

#[test]
fn each_is_given_each_thing_once_and_only_the_living() {
    let store = Fixture::new();
    store.write(|tx| tx.agent_is_live(SCOUT_KEY, 1));
    assert_eq!(next(&store, Picture, SCOUT_KEY), None, "the other one has not come in yet");
    store.write(|tx| tx.agent_is_live(OTHER_AGENT, 1));
    assert_eq!(next(&store, Picture, BEFORE_ALL), Some((SCOUT_KEY, None)));
    store.write(|tx| tx.keep_picture(SCOUT_KEY, "mxc://x/1"));
    assert_eq!(next(&store, Picture, BEFORE_ALL), Some((SCOUT_KEY, Some("mxc://x/1".to_owned()))));
    store.write(|tx| tx.agent_shows(SCOUT_KEY, Picture));
    assert_eq!(next(&store, Picture, BEFORE_ALL), Some((OTHER_AGENT, None)));
    assert_eq!(next(&store, About, BEFORE_ALL).map(|(agent, _)| agent), Some(SCOUT_KEY));
    store.write(|tx| tx.agent_shows(SCOUT_KEY, About));
    store.write(|tx| tx.agent_leaves(OTHER_AGENT, &operator(2)));
    let store = store.reopened();
    assert_eq!((next(&store, Picture, BEFORE_ALL), next(&store, About, BEFORE_ALL)), (None, None));
}
