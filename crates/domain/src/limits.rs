//! The numbers an operator can set (`[limits]` of the config) and, from `fixed.rs`, those nobody can. The defaults are the
//! wire contract's (section 6).

mod fixed;

use serde::{Deserialize, Serialize};
use thiserror::Error;

pub use fixed::*;

use crate::quota::{DAY_MS, HOUR_MS, MINUTE_MS, Rule};

/// `[limits]` of the config. A quota of 0 allows none of what it counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "snake_case")]
pub struct Limits {
    /// Agents that one source may bring into the lobbies, an hour; new agents by code count here too.
    pub lobby_entries_per_source_hour: u32,
    /// The same, a day.
    pub lobby_entries_per_source_day: u32,
    /// Agents that are in lobbies at one time, all lobbies together. Not 0.
    pub lobby_agents: u32,
    /// Messages an agent may send to lobbies, a minute.
    pub lobby_messages_per_agent_minute: u32,
    /// The same, a day.
    pub lobby_messages_per_agent_day: u32,
    /// Messages of agents that one lobby takes, a minute.
    pub lobby_messages_per_lobby_minute: u32,
    /// Well-formed Agent codes that one source may try, an hour.
    pub code_guesses_per_source_hour: u32,
    /// Knocks of one source, an hour.
    pub knocks_per_source_hour: u32,
    /// Agents that may wait at one room's door.
    pub waiting_knocks_per_room: u32,
    /// Open private rooms of one agent.
    pub open_rooms_per_agent: u32,
    /// Private rooms an agent may make, a day.
    pub new_rooms_per_agent_day: u32,
    /// Open private rooms of all agents together.
    pub open_rooms: u32,
    /// People an agent may invite, a day; the same number holds for each source.
    pub invitations_per_agent_day: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            lobby_entries_per_source_hour: 5,
            lobby_entries_per_source_day: 20,
            lobby_agents: 200,
            lobby_messages_per_agent_minute: 20,
            lobby_messages_per_agent_day: 1000,
            lobby_messages_per_lobby_minute: 12,
            code_guesses_per_source_hour: 10,
            knocks_per_source_hour: 10,
            waiting_knocks_per_room: 5,
            open_rooms_per_agent: 5,
            new_rooms_per_agent_day: 10,
            open_rooms: 500,
            invitations_per_agent_day: 20,
        }
    }
}

/// A limit that cannot be meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("[limits] {key} = 0 {why}")]
pub struct LimitsError {
    /// The key as it stands in the config.
    pub key: &'static str,
    why: &'static str,
}

impl Limits {
    /// Refuses what cannot be meant. Only `lobby_agents` needs it: 0 would turn every agent away with "the lobbies are
    /// full, try later". Elsewhere 0 is a way to say "none of that here".
    ///
    /// # Errors
    /// Names the key and what to set instead.
    pub fn validate(&self) -> Result<(), LimitsError> {
        if self.lobby_agents == 0 {
            let why =
                "lets no agent in. Set it to 1 or more; to switch agents off, set [agents] enabled = false.";
            return Err(LimitsError { key: "lobby_agents", why });
        }
        Ok(())
    }

    /// A source's entries into lobbies.
    #[must_use]
    pub fn lobby_entries(&self) -> [Rule; 2] {
        [
            Rule::of_source(self.lobby_entries_per_source_hour, HOUR_MS),
            Rule::of_source(self.lobby_entries_per_source_day, DAY_MS),
        ]
    }

    /// An agent's messages to lobbies.
    #[must_use]
    pub fn agent_messages(&self) -> [Rule; 2] {
        [
            Rule::new(self.lobby_messages_per_agent_minute, MINUTE_MS),
            Rule::new(self.lobby_messages_per_agent_day, DAY_MS),
        ]
    }

    /// All agents' messages to one lobby.
    #[must_use]
    pub fn lobby_messages(&self) -> Rule {
        Rule::new(self.lobby_messages_per_lobby_minute, MINUTE_MS)
    }

    /// A source's tries of codes.
    #[must_use]
    pub fn code_guesses(&self) -> Rule {
        Rule::of_source(self.code_guesses_per_source_hour, HOUR_MS)
    }

    /// A source's knocks.
    #[must_use]
    pub fn knocks(&self) -> Rule {
        Rule::of_source(self.knocks_per_source_hour, HOUR_MS)
    }

    /// An agent's new rooms.
    #[must_use]
    pub fn new_rooms(&self) -> Rule {
        Rule::new(self.new_rooms_per_agent_day, DAY_MS)
    }

    /// Invitations: the agent's rule, then its source's.
    #[must_use]
    pub fn invitations(&self) -> [Rule; 2] {
        let limit = self.invitations_per_agent_day;
        [Rule::new(limit, DAY_MS), Rule::of_source(limit, DAY_MS)]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    fn read(value: serde_json::Value) -> Result<Limits, String> {
        serde_json::from_value(value).map_err(|e| e.to_string())
    }

    #[test]
    fn the_defaults_are_the_contracts_under_the_configs_keys() {
        let expected = json!({
            "lobby_entries_per_source_hour": 5,
            "lobby_entries_per_source_day": 20,
            "lobby_agents": 200,
            "lobby_messages_per_agent_minute": 20,
            "lobby_messages_per_agent_day": 1000,
            "lobby_messages_per_lobby_minute": 12,
            "code_guesses_per_source_hour": 10,
            "knocks_per_source_hour": 10,
            "waiting_knocks_per_room": 5,
            "open_rooms_per_agent": 5,
            "new_rooms_per_agent_day": 10,
            "open_rooms": 500,
            "invitations_per_agent_day": 20,
        });
        assert_eq!(serde_json::to_value(Limits::default()).unwrap(), expected);
        assert_eq!(Limits::default().validate(), Ok(()));
    }

    #[test]
    fn what_is_left_out_keeps_its_default() {
        let limits = read(json!({"knocks_per_source_hour": 0})).unwrap();
        assert_eq!(limits, Limits { knocks_per_source_hour: 0, ..Limits::default() });
    }

    #[rstest]
    #[case(json!({"lobby_agent": 1}), "lobby_agent")]
    #[case(json!({"lobby_agents": -1}), "-1")]
    #[case(json!({"lobby_agents": 1.5}), "1.5")]
    #[case(json!({"lobby_agents": 4_294_967_296_u64}), "4294967296")]
    fn unknown_keys_and_odd_numbers_are_refused_by_name(
        #[case] value: serde_json::Value,
        #[case] named: &str,
    ) {
        let error = read(value).unwrap_err();
        assert!(error.contains(named), "{error}");
    }

    #[test]
    fn nought_is_refused_only_where_it_would_shut_the_house() {
        let keys = serde_json::to_value(Limits::default()).unwrap();
        for key in keys.as_object().unwrap().keys() {
            let limits = read(json!({ key.as_str(): 0 })).unwrap();
            let refused = limits.validate().err().map(|e| e.to_string());
            assert_eq!(refused.is_some(), key == "lobby_agents", "{key}");
            assert!(refused.is_none_or(|e| e.starts_with("[limits] lobby_agents = 0 ")));
        }
    }

    #[test]
    fn only_sources_windows_end_at_midnight() {
        let limits = Limits::default();
        let of_source =
            [limits.lobby_entries()[0], limits.lobby_entries()[1], limits.code_guesses(), limits.knocks()];
        assert!(of_source.iter().all(|r| r.until_midnight));
        let others = [limits.agent_messages()[0], limits.agent_messages()[1], limits.lobby_messages()];
        assert!(others.iter().chain([&limits.new_rooms()]).all(|r| !r.until_midnight));
        assert_eq!(limits.invitations().map(|r| (r.limit, r.until_midnight)), [(20, false), (20, true)]);
    }

    proptest! {
        #[test]
        fn each_key_reaches_its_rule(hour in 0u32..99, day in 100u32..999, minute in 1000u32..9999) {
            let limits = read(json!({
                "lobby_entries_per_source_hour": hour,
                "lobby_entries_per_source_day": day,
                "lobby_messages_per_agent_minute": minute,
                "lobby_messages_per_agent_day": day,
                "lobby_messages_per_lobby_minute": hour,
            })).unwrap();
            prop_assert_eq!(limits.lobby_entries().map(|r| (r.limit, r.length_ms)), [(hour, HOUR_MS), (day, DAY_MS)]);
            prop_assert_eq!(
                limits.agent_messages().map(|r| (r.limit, r.length_ms)),
                [(minute, MINUTE_MS), (day, DAY_MS)]
            );
            prop_assert_eq!(limits.lobby_messages(), Rule::new(hour, MINUTE_MS));
        }
    }
}
