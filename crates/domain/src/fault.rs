//! What can go wrong, as callers see it: one table of codes, and the fault that carries one of them.

use std::fmt;

use serde_json::{Map, Value};

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $text:literal, $status:literal, $retryable:literal, $next:literal;)*) => {
        /// The codes of the wire contract, section 3: name, status, whether it may pass by itself, next step. The first three
        /// are locked by a snapshot.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Code { $($(#[$doc])* $name,)* }

        impl Code {
            pub const ALL: &[Code] = &[$(Code::$name,)*];

            /// As it stands in an error body.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Code::$name => $text,)* }
            }

            /// HTTP status.
            #[must_use]
            pub fn status(self) -> u16 {
                match self { $(Code::$name => $status,)* }
            }

            /// Whether the same call can succeed later without the caller changing anything.
            #[must_use]
            pub fn retryable(self) -> bool {
                match self { $(Code::$name => $retryable,)* }
            }

            /// What the caller does about it, for the guide and the API's description. A fault's own message says more.
            #[must_use]
            pub fn next_step(self) -> &'static str {
                match self { $(Code::$name => $next,)* }
            }
        }
    };
}

codes! {
    /// The operator switched agents off.
    Disabled = "network_agent.disabled", 503, false, "agents are switched off here: ask the operator";
    /// Shape of a body or query.
    InvalidRequest = "network_agent.invalid_request", 400, false,
        "mend the body, or the parameter in `details.field`";
    NameInvalid = "network_agent.name_invalid", 400, false, "another name, by the rules for names";
    /// All ten thousand numbers of the name are taken.
    NameUnavailable = "network_agent.name_unavailable", 409, false, "another name; its numbers are used up";
    RoomNotFound = "network_agent.room_not_found", 404, false,
        "take one of `details.rooms`, or check the number";
    CodeInvalid = "network_agent.code_invalid", 404, false, "wrong or void: ask for a new code, don't guess";
    /// A quota is used up, ours or the homeserver's.
    RateLimited = "network_agent.rate_limited", 429, true, "same call after `Retry-After`";
    /// The lobbies are full.
    CapacityReached = "network_agent.capacity_reached", 503, true, "lobbies are full: later";
    Unauthorized = "network_agent.unauthorized", 401, false, "token missing, wrong or void: join anew";
    RoomNameInvalid = "network_agent.room_name_invalid", 400, false,
        "1 to 128 characters, no control characters";
    RoomLimitReached = "network_agent.room_limit_reached", 409, false, "close a room of yours, or use it";
    RoomCapacityReached = "network_agent.room_capacity_reached", 503, true, "too many agents' rooms: later";
    RoomNotOwned = "network_agent.room_not_owned", 403, false, "name an open room that you made";
    AccountNotFound = "network_agent.account_not_found", 404, false,
        "ask the person for the id; do as `message` says";
    AgentNotInRoom = "network_agent.agent_not_in_room", 404, false,
        "nobody to remove: it did not come by code or knock";
    KnockNotFound = "network_agent.knock_not_found", 404, false, "expired, answered or gone: list the knocks";
    /// `details.field` says which part.
    InvalidMessage = "network_agent.invalid_message", 400, false, "mend the part in `details.field`";
    RoomRequired = "network_agent.room_required", 400, false, "you are in several rooms: give `roomId`";
    RoomNotJoined = "network_agent.room_not_joined", 404, false, "you are not in it: see `GET /me`";
    MessageNotFound = "network_agent.message_not_found", 404, false, "not kept in this room: another anchor";
    SubmissionConflict = "network_agent.submission_conflict", 409, false,
        "that `submissionId` is used up: a new one";
    /// The homeserver refused: removed, banned, muted.
    Forbidden = "network_agent.forbidden", 403, false,
        "room closed, or you were removed or banned: don't insist";
    /// Homeserver or store out of reach.
    DependencyUnavailable = "network_agent.dependency_unavailable", 503, true, "same call again soon";
    Internal = "network_agent.internal", 500, true, "same call later; if it stays, report `correlationId`";
    RouteNotFound = "http.route_not_found", 404, false, "check the path";
    MethodNotAllowed = "http.method_not_allowed", 405, false, "check path and verb";
}

/// A refusal or failure on its way to the caller. `message` is for them: it says what to do next and holds no secret
/// and no text of a message. `cause` is for the log only.
#[derive(Clone, Debug)]
pub struct Fault {
    pub code: Code,
    pub message: String,
    pub details: Map<String, Value>,
    /// Whole seconds, at least 1; goes into `Retry-After`.
    pub retry_after_s: Option<u64>,
    pub cause: Option<String>,
}

impl Fault {
    #[must_use]
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), details: Map::new(), retry_after_s: None, cause: None }
    }

    /// Names the part of the request that is at fault, as `details.field`.
    #[must_use]
    pub fn field(self, field: &str) -> Self {
        self.detail("field", field)
    }

    #[must_use]
    pub fn detail(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.details.insert(key.to_owned(), value.into());
        self
    }

    /// Rounded up to at least one second by the caller's rule; see [`crate::quota`].
    #[must_use]
    pub fn retry_after(mut self, seconds: u64) -> Self {
        self.retry_after_s = Some(seconds.max(1));
        self
    }

    /// For the log. Must not hold tokens, codes, keys or message text.
    #[must_use]
    pub fn because(mut self, cause: impl fmt::Display) -> Self {
        self.cause = Some(cause.to_string());
        self
    }

    /// `invalid_request` that names its field.
    #[must_use]
    pub fn invalid(field: &str, message: impl Into<String>) -> Self {
        Self::new(Code::InvalidRequest, message).field(field)
    }

    /// A list of ids that is too long.
    #[must_use]
    pub fn too_many_ids(field: &str, most: usize) -> Self {
        Self::invalid(field, format!("{field} takes at most {most} ids. Give fewer."))
    }

    #[must_use]
    pub fn unauthorized() -> Self {
        Self::new(
            Code::Unauthorized,
            "Send the token you got when you joined as `Authorization: Bearer TOKEN`. A lost or ended token cannot be \
             restored: join again under a new name.",
        )
    }

    #[must_use]
    pub fn internal(cause: impl fmt::Display) -> Self {
        Self::new(Code::Internal, "Something failed on our side. Try the same call again in a moment.")
            .because(cause)
    }

    #[must_use]
    pub fn unavailable(cause: impl fmt::Display) -> Self {
        Self::new(
            Code::DependencyUnavailable,
            "The Matrix server or our store is out of reach. Try the same call again in a moment; when sending, keep \
             the same submissionId.",
        )
        .because(cause)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}] {}", self.code.as_str(), self.message)
    }
}

impl std::error::Error for Fault {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_codes_is_the_contracts() {
        let table: Vec<String> = Code::ALL
            .iter()
            .map(|c| {
                format!("{} {} {}", c.as_str(), c.status(), if c.retryable() { "retryable" } else { "final" })
            })
            .collect();
        insta::assert_snapshot!(table.join("\n"));
    }
}
