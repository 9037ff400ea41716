//! What an agent says, as an ordinary `m.room.message`.

use parlour_domain::{ids::MessageId, limits::MAX_EVENT_BYTES};
use ruma::{OwnedEventId, OwnedUserId, UserId};
use serde_json::{
    Map, Value, json,
    value::{RawValue, to_raw_value},
};

use super::{HOPS_KEY, NOTICE_KEY, SUBMISSION_KEY};

/// What is kept free for what the homeserver puts around the content. In rooms since version 3 that is at most 20
/// previous and 10 auth events of 47 bytes each, two ids of 255, a signature with the server's name (at most 400), a
/// hash, and some 300 bytes of keys and numbers: about 2,700.
const ENVELOPE_BYTES: usize = 4_096;

/// A message to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outgoing {
    pub text: String,
    pub mentions: Vec<OwnedUserId>,
    pub mentions_everyone: bool,
    pub reply: Option<Reply>,
    pub submission: MessageId,
    /// See [`HOPS_KEY`].
    pub hops: u32,
}

/// The message that is answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    pub event_id: OwnedEventId,
    pub sender: OwnedUserId,
    /// The root of the thread it is in; the answer goes there too.
    pub thread: Option<OwnedEventId>,
}

/// The event would be larger than homeservers take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the message is too large; shorten its {field}")]
pub struct TooLarge {
    /// The larger of the two: `text` or `mentions`.
    pub field: &'static str,
}

/// The content of the event that `me` sends. There is no `formatted_body`: links to people need their display names,
/// and the text is already what people should read.
///
/// # Errors
/// If the event would not fit.
pub fn content(outgoing: &Outgoing, me: &UserId) -> Result<Box<RawValue>, TooLarge> {
    let mentions = mentions(outgoing, me);
    let too_large = TooLarge { field: larger(&outgoing.text, &mentions) };
    let mut fields = json!({
        "msgtype": "m.text",
        "body": outgoing.text,
        "m.mentions": mentions,
        SUBMISSION_KEY: outgoing.submission,
        HOPS_KEY: outgoing.hops,
    });
    if let Some(reply) = &outgoing.reply {
        fields["m.relates_to"] = relates_to(reply);
    }
    // Text and maps with text as keys always serialise.
    let raw = to_raw_value(&fields).map_err(|_| too_large)?;
    if raw.get().len() + ENVELOPE_BYTES > MAX_EVENT_BYTES { Err(too_large) } else { Ok(raw) }
}

/// What the bridge tells people in a room. It is in nobody's inbox, whoever of ours says it.
#[must_use]
pub fn notice(text: &str) -> Box<RawValue> {
    let fields = json!({"msgtype": "m.notice", "body": text, "m.mentions": {}, NOTICE_KEY: true});
    to_raw_value(&fields).unwrap_or_default()
}

/// Always there, if empty: so that no client looks for mentions in the text (spec, "User and room mentions"). A reply
/// mentions whom it answers, since that is what makes clients notify.
fn mentions(outgoing: &Outgoing, me: &UserId) -> Value {
    let mut users = outgoing.mentions.clone();
    let answered = outgoing.reply.iter().map(|reply| &reply.sender);
    users.extend(answered.filter(|sender| *sender != me && !outgoing.mentions.contains(sender)).cloned());
    let mut mentions = Map::new();
    if !users.is_empty() {
        mentions.insert("user_ids".to_owned(), json!(users));
    }
    if outgoing.mentions_everyone {
        mentions.insert("room".to_owned(), true.into());
    }
    mentions.into()
}

fn relates_to(reply: &Reply) -> Value {
    let answered = json!({"event_id": reply.event_id});
    match &reply.thread {
        None => json!({"m.in_reply_to": answered}),
        Some(root) => json!({
            "rel_type": "m.thread",
            "event_id": root,
            "is_falling_back": false,
            "m.in_reply_to": answered,
        }),
    }
}

fn larger(text: &str, mentions: &Value) -> &'static str {
    let bytes = |value: &Value| value.to_string().len();
    if bytes(mentions) > bytes(&text.into()) { "mentions" } else { "text" }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use ruma::{owned_event_id, owned_user_id, user_id};

    use super::*;

    fn outgoing() -> Outgoing {
        Outgoing {
            text: "hello".into(),
            mentions: vec![],
            mentions_everyone: false,
            reply: None,
            submission: MessageId::parse("0199aaaa-0000-7000-8000-000000000000").unwrap(),
            hops: 0,
        }
    }

    fn reply(sender: OwnedUserId, thread: Option<OwnedEventId>) -> Option<Reply> {
        Some(Reply { event_id: owned_event_id!("$said"), sender, thread })
    }

    fn sent(outgoing: &Outgoing) -> Value {
        serde_json::from_str(content(outgoing, user_id!("@me:x")).unwrap().get()).unwrap()
    }

    #[test]
    fn a_plain_message() {
        let expected = json!({"msgtype": "m.text", "body": "hello", "m.mentions": {},
            "io.parlour.submission_id": "0199aaaa-0000-7000-8000-000000000000", "io.parlour.hops": 0});
        assert_eq!(sent(&outgoing()), expected);
        assert_eq!(sent(&Outgoing { hops: 3, ..outgoing() })["io.parlour.hops"], 3);
    }

    #[rstest]
    #[case::of_another(owned_user_id!("@ada:x"), json!({"user_ids": ["@bob:x", "@ada:x"]}))]
    #[case::of_one_named_already(owned_user_id!("@bob:x"), json!({"user_ids": ["@bob:x"]}))]
    #[case::of_myself(owned_user_id!("@me:x"), json!({"user_ids": ["@bob:x"]}))]
    fn a_reply_mentions_whom_it_answers(#[case] sender: OwnedUserId, #[case] mentions: Value) {
        let mentioned = vec![owned_user_id!("@bob:x")];
        let got = sent(&Outgoing { mentions: mentioned, reply: reply(sender, None), ..outgoing() });
        assert_eq!(got["m.mentions"], mentions);
        assert_eq!(got["m.relates_to"], json!({"m.in_reply_to": {"event_id": "$said"}}));
    }

    #[test]
    fn an_answer_in_a_thread_stays_there() {
        let thread = Some(owned_event_id!("$root"));
        let got = sent(&Outgoing { reply: reply(owned_user_id!("@ada:x"), thread), ..outgoing() });
        let expected = json!({"rel_type": "m.thread", "event_id": "$root", "is_falling_back": false,
            "m.in_reply_to": {"event_id": "$said"}});
        assert_eq!(got["m.relates_to"], expected);
    }

    #[test]
    fn everyone() {
        assert_eq!(
            sent(&Outgoing { mentions_everyone: true, ..outgoing() })["m.mentions"],
            json!({"room": true})
        );
    }

    #[test]
    fn what_does_not_fit_names_the_larger_part() {
        let me = user_id!("@me:x");
        let long = |n: usize| Outgoing { text: "x".repeat(n), ..outgoing() };
        let around = content(&long(0), me).unwrap().get().len();
        let fits = MAX_EVENT_BYTES - ENVELOPE_BYTES - around;
        assert_eq!(content(&long(fits), me).unwrap().get().len(), MAX_EVENT_BYTES - ENVELOPE_BYTES);
        assert_eq!(content(&long(fits + 1), me).unwrap_err().field, "text");

        let user = |n: usize| UserId::parse(format!("@{n:0>250}:x")).unwrap();
        let crowd = Outgoing { mentions: (0..300).map(user).collect(), ..outgoing() };
        assert_eq!(content(&crowd, me).unwrap_err().field, "mentions");
        // Control characters take six bytes each.
        assert_eq!(
            content(&Outgoing { text: "\u{1}".repeat(11_000), ..outgoing() }, me).unwrap_err().field,
            "text"
        );
    }
}
