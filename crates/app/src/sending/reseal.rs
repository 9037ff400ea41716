use std::sync::Arc;

use parlour_store::Submission;

use crate::{
    app::App,
    devices::{DeviceError, Held},
    live::{AgentLive, RoomLive},
};

impl App {
    /// It was encrypted by a device that must not speak any more.
    pub(super) fn must_be_sealed_anew(submission: &Submission) -> bool {
        submission.sealed.as_ref().is_some_and(|sealed| sealed.content.is_empty())
    }

    /// Encrypts a claimed message once more; on disk before it is sent.
    pub(super) async fn seal_anew(
        &self,
        submission: &mut Submission,
        agent: &AgentLive,
        room: &Arc<RoomLive>,
    ) -> Result<(), DeviceError> {
        // one without content was sent long ago
        let content = submission.content.clone().unwrap_or_default();
        let (sealed, mut held) = self.seal(agent.user_id(), room, &content).await?;
        let (batch, resealed) = (Held::take(&mut held), sealed.clone());
        let (key, id) = (submission.agent, submission.id);
        let write = self.store.write(move |tx| {
            batch.iter().try_for_each(|batch| batch.put(tx))?;
            tx.reseal(key, id, &resealed)
        });
        write.await?;
        held.committed();
        submission.sealed = Some(sealed);
        Ok(())
    }
}
