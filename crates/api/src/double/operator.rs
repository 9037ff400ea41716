//! What the operator's endpoints call.

use std::sync::Arc;

use parlour_app::view::{
    AgentShown, AgentSummary, AuditEntry, Audited, BanLists, CodeSummary, IncomingKnock, QuotaHolder,
    QuotaTaken, QuotaUse, Readiness, RoomOf, RoomSummary, Shut, SourceTag, Status,
};
use parlour_domain::{
    fault::Fault,
    source::{Source, SourceKey},
};
use ruma::owned_user_id;

use super::App;
use crate::tests::samples;

#[allow(clippy::unused_async, reason = "the real ones wait")]
impl App {
    pub(crate) fn status(&self) -> Status {
        let readiness = self.readiness();
        let ban_lists = BanLists { named: 2, read: 1, failed: 1, rules: 7 };
        Status { readiness, agents: 3, lobbies: 1, private_rooms: 2, devices: 2, way: None, ban_lists }
    }

    pub(crate) fn readiness(&self) -> Readiness {
        if self.broken {
            Readiness::NotYet("The homeserver does not answer.".to_owned())
        } else {
            Readiness::Ready
        }
    }

    pub(crate) fn all_agents(&self) -> Vec<AgentSummary> {
        vec![summary()]
    }

    pub(crate) async fn agent_shown(&self, named: &str) -> Result<AgentShown, Fault> {
        self.note(format!("agent_shown {named:?}"))?;
        let taken =
            |used, back_at_ms| QuotaUse { key: "new_rooms_per_agent_day", used, limit: 10, back_at_ms };
        let quotas = vec![taken(3, Some(summary().agent.created_at_ms + 60_000)), taken(0, None)];
        Ok(AgentShown { summary: summary(), quotas })
    }

    pub(crate) async fn disable_agent(self: &Arc<Self>, named: &str) -> Result<AgentSummary, Fault> {
        self.note(format!("disable_agent {named:?}"))?;
        Ok(summary())
    }

    pub(crate) fn all_rooms(&self) -> Vec<RoomSummary> {
        let of = |of| RoomSummary {
            room: samples::room(),
            of,
            agents: 2,
            people: 1,
            encrypted: false,
            closed: false,
        };
        vec![
            of(RoomOf::Lobby { slug: Some("lobby".to_owned()) }),
            of(RoomOf::Agent { owner: Some("Scout #2316".to_owned()) }),
            of(RoomOf::People),
            of(RoomOf::Chat),
        ]
    }

    pub(crate) async fn shut_room(self: &Arc<Self>, named: &str) -> Result<Shut, Fault> {
        self.note(format!("shut_room {named:?}"))?;
        Ok(Shut { room: samples::room(), closed: true })
    }

    pub(crate) fn all_knocks(&self) -> Vec<IncomingKnock> {
        vec![samples::incoming_knock()]
    }

    pub(crate) async fn all_codes(&self) -> Result<Vec<CodeSummary>, Fault> {
        Ok(vec![CodeSummary { room: samples::room(), on: true }])
    }

    pub(crate) async fn code_off(&self, named: &str) -> Result<CodeSummary, Fault> {
        self.note(format!("code_off {named:?}"))?;
        Ok(CodeSummary { room: samples::room(), on: false })
    }

    pub(crate) async fn all_quotas(&self, used_up: bool, most: usize) -> Result<Vec<QuotaTaken>, Fault> {
        self.note(format!("all_quotas {used_up} {most}"))?;
        let lobby = QuotaHolder::Lobby { room: samples::room(), slug: Some("lobby".to_owned()) };
        let source = QuotaHolder::Source(SourceTag([0, 1, 0xab, 0xcd]));
        Ok(vec![
            taken(lobby, "lobby_messages_per_lobby_minute", 12),
            taken(QuotaHolder::Agent(samples::agent()), "new_rooms_per_agent_day", 3),
            taken(source, "knocks_per_source_hour", 2),
        ])
    }

    pub(crate) async fn source_quotas(self: &Arc<Self>, address: Source) -> Result<Vec<QuotaTaken>, Fault> {
        let SourceKey([a, b, c, d, ..]) = address.key(&[7; 32]);
        self.note(format!("source_quotas {}", address == Source::V4([192, 0, 2, 7])))?;
        Ok(vec![taken(QuotaHolder::Source(SourceTag([a, b, c, d])), "knocks_per_source_hour", 2)])
    }

    pub(crate) async fn audit(&self, within_ms: i64, limit: u32) -> Result<Vec<AuditEntry>, Fault> {
        self.note(format!("audit {within_ms} {limit}"))?;
        let (agent, room) = (samples::agent(), samples::room());
        let whom = Audited::Agent { id: agent.id, display_name: agent.display_name };
        let by = |number, by: &str, doer, whom| AuditEntry {
            number,
            at_ms: agent.created_at_ms,
            deed: "agent_ended",
            by: by.to_owned(),
            doer,
            whom,
            room: None,
        };
        let ada = Audited::Person(owned_user_id!("@ada:example.org"));
        let place = Some((room.catalog_id, room.room_id.clone()));
        let in_room = AuditEntry { room: place, ..by(3, "person", Some(ada), None) };
        Ok(vec![in_room, by(2, "agent", Some(whom.clone()), None), by(1, "operator", None, Some(whom))])
    }
}

fn taken(holder: QuotaHolder, key: &'static str, used: u32) -> QuotaTaken {
    let back_at_ms = Some(samples::agent().created_at_ms + 60_000);
    QuotaTaken { holder, quota: QuotaUse { key, used, limit: 12, back_at_ms } }
}

fn summary() -> AgentSummary {
    let agent = samples::agent();
    AgentSummary { last_call_ms: agent.created_at_ms + 5, agent, rooms: vec![samples::room()], waiting: true }
}
