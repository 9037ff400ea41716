use std::{future::Future, sync::Arc};

use parlour_domain::fault::Fault;
use tokio::sync::oneshot;

use crate::app::App;

impl App {
    /// Runs something to its end even if the caller goes away, which drops the caller's future. What came of it then
    /// goes to `unclaimed`.
    pub(crate) async fn to_the_end<T, F>(
        self: &Arc<Self>,
        work: F,
        unclaimed: impl FnOnce(&Arc<Self>, T) + Send + 'static,
    ) -> Result<T, Fault>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, Fault>> + Send + 'static,
    {
        let (tell, told) = oneshot::channel();
        let app = self.clone();
        self.tasks.spawn(async move {
            if let Err(Ok(done)) = tell.send(work.await) {
                unclaimed(&app, done);
            }
        });
        told.await.unwrap_or_else(|_| Err(Fault::internal("the task ended without an answer")))
    }
}
