use crate::app::App;

impl App {
    /// Puppets that are in a room for nobody: a join may succeed after we gave it up, or after its agent was gone.
    pub(crate) async fn take_out_strays(&self) {
        for room in self.rooms.all() {
            let stray =
                |user: &ruma::UserId| self.settings.is_puppet(user) && self.agents.by_user(user).is_none();
            for user in room.with_members(|m| m.joined(stray)) {
                tracing::info!(puppet = %user, "taking a puppet without an agent out of a room");
                if let Err(error) = self.client.leave(&user, &room.room_id, None).await {
                    tracing::info!(%error, "cannot take it out yet");
                    return;
                }
            }
        }
    }
}
