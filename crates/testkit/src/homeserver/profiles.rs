//! What accounts show of themselves.
#![allow(clippy::result_large_err, reason = "a refusal is an answer too")]

use serde_json::{Value, json};

use super::{
    Call, FakeHomeserver, SERVER_NAME,
    request::{Answer, Request, ok, refusal},
    world::World,
};

pub(super) fn read(w: &World, user: &str) -> Result<Answer, Answer> {
    let Some(name) = w.users.get(user) else { return Err(refusal(404, "M_NOT_FOUND", "no such user")) };
    let mut profile = json!({"displayname": name});
    for (key, value) in w.profiles.get(user).into_iter().flatten() {
        profile[key] = value.clone();
    }
    Ok(ok(&profile))
}

pub(super) fn upload(w: &World) -> Answer {
    let uploads = w.calls.get(&Call::Upload).copied().unwrap_or(0);
    ok(&json!({"content_uri": format!("mxc://{SERVER_NAME}/file{uploads}")}))
}

/// A picture shows in all rooms, as a name does.
pub(super) fn set_field(w: &mut World, now_ms: i64, user: &str, request: &Request) -> Result<Answer, Answer> {
    let key = &request.args[1];
    let Some(value) = request.body.get(key) else {
        return Err(refusal(400, "M_MISSING_PARAM", "the field is not in the body"));
    };
    w.profiles.entry(user.to_owned()).or_default().insert(key.clone(), value.clone());
    if key == "avatar_url" {
        w.show_in_rooms(now_ms, user);
    }
    Ok(ok(&json!({})))
}

impl FakeHomeserver {
    /// A field of somebody's profile.
    #[must_use]
    pub fn profile_field(&self, user: &str, key: &str) -> Option<Value> {
        self.look(|w| w.profiles.get(user)?.get(key).cloned())
    }

    /// Somebody else gave this account a picture.
    pub fn has_picture(&self, user: &str, url: &str) {
        self.world(|w| {
            w.profiles.entry(user.to_owned()).or_default().insert("avatar_url".to_owned(), url.into())
        });
    }
}
