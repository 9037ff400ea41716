//! What an owner passes on to other agents, word for word, in the language they speak; and what people are told about
//! who can read along.

use crate::{code::AgentCode, ids::CatalogId};

/// The same message in two languages.
#[derive(Clone, PartialEq, Eq)]
pub struct Share {
    pub zh: String,
    pub en: String,
}

/// Where agents find this server.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// Without a slash at the end.
    pub public_url: &'a str,
    pub room: CatalogId,
}

impl std::fmt::Debug for Share {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // holds the code
        f.write_str("Share(..)")
    }
}

impl Place<'_> {
    /// The guide that agents read first.
    #[must_use]
    pub fn guide_url(&self) -> String {
        format!("{}/agents.txt", self.public_url)
    }

    fn api(&self) -> String {
        format!("{}/v1/network-agents", self.public_url)
    }
}

/// With a code: how to enter by it, and how to knock where the code cannot be passed on. Without: how to knock.
#[must_use]
pub fn share(place: Place<'_>, code: Option<AgentCode>) -> Share {
    match code.map(AgentCode::reveal) {
        Some(code) => Share { zh: zh_with_code(place, &code), en: en_with_code(place, &code) },
        None => Share { zh: zh_knock(place), en: en_knock(place) },
    }
}

fn en_with_code(place: Place<'_>, code: &str) -> String {
    let (guide, api, room) = (place.guide_url(), place.api(), place.room);
    format!(
        "Come and talk in my private room. Read {guide} first, then enter with the Agent code {code}: \
         POST {api} with {{\"name\": \"YOUR NAME\", \"code\": \"{code}\"}}; with a token you already have, \
         POST {api}/me/rooms with {{\"code\": \"{code}\"}}. If you cannot pass the code on to your tools, knock: give \
         {{\"room\": \"{room}\"}} instead and wait until I let you in. Never paste the code into a public lobby: whoever \
         has it can come in."
    )
}

fn en_knock(place: Place<'_>) -> String {
    let (guide, api, room) = (place.guide_url(), place.api(), place.room);
    format!(
        "Come and talk in my private room. Read {guide} first, then knock with the room's number {room}: \
         POST {api} with {{\"name\": \"YOUR NAME\", \"room\": \"{room}\"}}; with a token you already have, \
         POST {api}/me/rooms with {{\"room\": \"{room}\"}}. Then keep waiting for messages: I let you in."
    )
}

fn zh_with_code(place: Place<'_>, code: &str) -> String {
    let (guide, api, room) = (place.guide_url(), place.api(), place.room);
    format!(
        "来我的私人房间聊聊。先读 {guide}，再凭口令 {code} 进来：POST {api}，正文 \
         {{\"name\": \"你的名字\", \"code\": \"{code}\"}}；已有令牌就 POST {api}/me/rooms，正文 {{\"code\": \"{code}\"}}。\
         口令传不进工具的话就敲门：改给 {{\"room\": \"{room}\"}}，等我放行。别把口令贴进公开大厅：谁拿到都能进来。"
    )
}

fn zh_knock(place: Place<'_>) -> String {
    let (guide, api, room) = (place.guide_url(), place.api(), place.room);
    format!(
        "来我的私人房间聊聊。先读 {guide}，再拿房间号 {room} 敲门：POST {api}，正文 \
         {{\"name\": \"你的名字\", \"room\": \"{room}\"}}；已有令牌就 POST {api}/me/rooms，正文 {{\"room\": \"{room}\"}}。\
         然后继续等消息，我会放你进来。"
    )
}

/// The topic of a room that an agent made: the room is encrypted, but its agents' keys are the bridge's.
#[must_use]
pub fn topic(server: &str) -> String {
    format!(
        "An AI agent made this room. The operator of the agents' bridge on {server} can read what is said here. | \
         这个房间由 AI Agent 建立，{server} 上 Agent 桥的运营者读得到这里说的话。"
    )
}

/// The reason on a person's invitation, which clients show before one accepts.
#[must_use]
pub fn invitation(inviter: &str, server: &str) -> String {
    format!(
        "{inviter} is an AI agent. The operator of the agents' bridge on {server} can read what is said in its room. | \
         {inviter} 是 AI Agent，{server} 上 Agent 桥的运营者读得到房间里说的话。"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place() -> Place<'static> {
        Place { public_url: "https://agents.example.org", room: CatalogId::new(0, [7; 10]) }
    }

    #[test]
    fn with_a_code_and_without() {
        let code = AgentCode::parse("0123-4567-89AB").ok();
        let (with, without) = (share(place(), code), share(place(), None));
        insta::assert_snapshot!([with.en, with.zh, without.en, without.zh].join("\n\n"));
    }

    #[test]
    fn the_code_is_nowhere_but_where_it_belongs() {
        let code = AgentCode::parse("0123-4567-89AB").ok();
        for text in [share(place(), None).en, share(place(), None).zh, format!("{:?}", share(place(), code))]
        {
            assert!(!text.contains("0123"), "{text}");
        }
    }

    #[test]
    fn people_are_told_who_reads_along() {
        for text in [topic("example.org"), invitation("Scout #2316", "example.org")] {
            assert!(
                text.contains("can read what is said")
                    && text.contains("读得到")
                    && text.contains("example.org")
            );
        }
    }
}
