//! Rooms that agents make and manage. `{id}` is a room's number or its Matrix id.

pub(super) mod agent;
pub(super) mod code;
pub(crate) mod create;
pub(super) mod invitations;
pub(crate) mod knock;
pub(crate) mod knocks;
pub(super) mod room;

use crate::{error::Refusal, wire::Done};

/// What routes give back that have nothing to say.
type Outcome = Result<Done, Refusal>;

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use crate::{
        double::App,
        tests::support::{Ask, ask, delete, get, post, put},
    };

    #[rstest]
    #[case(post("/me/private-rooms", r#"{"name":"Den"}"#), r#"create_private_room "Den""#)]
    #[case(delete("/me/private-rooms/%21r%3Ax"), r#"close_private_room "!r:x""#)]
    #[case(get("/me/private-rooms/!r:x/code"), r#"show_code "!r:x""#)]
    #[case(put("/me/private-rooms/!r:x/code"), r#"replace_code "!r:x""#)]
    #[case(delete("/me/private-rooms/!r:x/code"), r#"disable_code "!r:x""#)]
    #[case(get("/me/private-rooms/!r:x/knocks/"), r#"list_knocks "!r:x""#)]
    #[case(put("/me/private-rooms/!r:x/knocks/a1"), r#"admit "!r:x" "a1""#)]
    #[case(delete("/me/private-rooms/!r:x/knocks/a1"), r#"decline "!r:x" "a1""#)]
    #[case(
        post("/me/private-rooms/!r:x/invitations", r#"{"accountId":"@a:x"}"#),
        r#"invite_person "!r:x" "@a:x" from Source(SourceKey(..))"#
    )]
    #[case(delete("/me/private-rooms/!r:x/agents/a1"), r#"remove_agent "!r:x" "a1""#)]
    #[tokio::test]
    async fn each_asks_its_use_case(#[case] request: Ask, #[case] expected: &str) {
        assert_eq!(App::asked(request.clone()).await, expected);
        let wrong = ask(App::open(), request.at("?x=1")).await;
        assert!(wrong.contains("Unknown parameter `x`"), "{wrong}");
    }

    #[rstest]
    #[case("/me/private-rooms", "name")]
    #[case("/me/private-rooms/!r:x/invitations", "accountId")]
    #[tokio::test]
    async fn bodies_are_checked(#[case] path: &str, #[case] field: &str) {
        let answer = ask(App::open(), post(path, "{}")).await;
        assert!(answer.contains(&format!("The field `{field}` is missing")), "{answer}");
    }
}
