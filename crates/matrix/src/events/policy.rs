//! A rule of a ban list (Matrix spec, "Moderation policy lists").

use parlour_domain::ban_list::{Kind, Rule};
use serde_json::value::RawValue;

use crate::json::{Fields, sane};

/// Under the names that the events have had; lists have all of them.
const TYPES: [&str; 3] = ["m.policy.rule.", "m.room.rule.", "org.matrix.mjolnir.rule."];
/// `m.takedown` (MSC4204) asks for more than a ban, and for that in any case.
const BANS: [&str; 4] = ["m.ban", "org.matrix.mjolnir.ban", "m.takedown", "org.matrix.msc4204.takedown"];

/// The rule that a piece of state is. `None`: no rule, one that was taken back, or one that recommends something else
/// than a ban.
#[must_use]
pub fn ban_rule(event: &RawValue) -> Option<Rule> {
    let fields = Fields::of(event).filter(|fields| fields.has("state_key"))?;
    let kind = kind(&fields.str("type")?)?;
    let content = fields.object("content")?;
    let bans = content.str("recommendation").is_some_and(|word| BANS.contains(&word.as_str()));
    let entity = content.str("entity").filter(|entity| bans && !entity.is_empty() && sane(entity))?;
    Some(Rule { kind, entity })
}

/// What events of this type are rules about; `None`: they are none.
pub(super) fn kind(event_type: &str) -> Option<Kind> {
    let about = TYPES.iter().find_map(|name| event_type.strip_prefix(name))?;
    Kind::ALL.into_iter().find(|kind| kind.as_str() == about)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;
    use serde_json::{Value, json, value::to_raw_value};

    use super::*;

    fn read(event_type: &str, content: Value) -> Option<Rule> {
        let event = json!({"type": event_type, "state_key": "rule:x", "content": content});
        ban_rule(&to_raw_value(&event).unwrap())
    }

    #[rstest]
    #[case("m.policy.rule.user", "m.ban", Kind::User)]
    #[case("m.policy.rule.server", "m.ban", Kind::Server)]
    #[case("m.policy.rule.room", "m.ban", Kind::Room)]
    #[case("m.room.rule.user", "m.ban", Kind::User)]
    #[case("org.matrix.mjolnir.rule.server", "org.matrix.mjolnir.ban", Kind::Server)]
    #[case("m.policy.rule.room", "m.takedown", Kind::Room)]
    #[case("m.policy.rule.user", "org.matrix.msc4204.takedown", Kind::User)]
    fn rules(#[case] event_type: &str, #[case] recommendation: &str, #[case] kind: Kind) {
        let content = json!({"entity": "@m*:x", "recommendation": recommendation, "reason": "spam"});
        assert_eq!(read(event_type, content), Some(Rule { kind, entity: "@m*:x".to_owned() }));
    }

    #[rstest]
    #[case("m.policy.rule.user", json!({}))]
    #[case("m.policy.rule.user", json!({"entity": "@m:x"}))]
    #[case("m.policy.rule.user", json!({"entity": "@m:x", "recommendation": "m.warn"}))]
    #[case("m.policy.rule.user", json!({"entity": "@m:x", "recommendation": ["m.ban"]}))]
    #[case("m.policy.rule.user", json!({"recommendation": "m.ban"}))]
    #[case("m.policy.rule.user", json!({"entity": 7, "recommendation": "m.ban"}))]
    #[case("m.policy.rule.user", json!({"entity": "", "recommendation": "m.ban"}))]
    #[case("m.policy.rule.user", json!({"entity": "x".repeat(256), "recommendation": "m.ban"}))]
    #[case("m.policy.rule.", json!({"entity": "@m:x", "recommendation": "m.ban"}))]
    #[case("m.policy.rule.event", json!({"entity": "@m:x", "recommendation": "m.ban"}))]
    #[case("m.room.topic", json!({"entity": "@m:x", "recommendation": "m.ban"}))]
    fn no_rules(#[case] event_type: &str, #[case] content: Value) {
        assert_eq!(read(event_type, content), None);
    }

    #[test]
    fn a_message_is_no_rule() {
        let event =
            json!({"type": "m.policy.rule.user", "content": {"entity": "@m:x", "recommendation": "m.ban"}});
        assert_eq!(ban_rule(&to_raw_value(&event).unwrap()), None);
    }

    proptest! {
        #[test]
        fn anything_is_read(text in any::<String>()) {
            let event = json!({"type": text, "state_key": text, "content": {"entity": text, "recommendation": text}});
            prop_assert_eq!(ban_rule(&to_raw_value(&event).unwrap()), None);
        }
    }
}
