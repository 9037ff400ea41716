//! Files: the keys of a room's history, and pictures of puppets.

use bytes::Bytes;
use http::Method;
use ruma::{MxcUri, ServerName, UserId};
use serde::Deserialize;

use super::{AsDevice, Client, HsError, SLOW};

#[derive(Deserialize)]
struct Uploaded {
    content_uri: String,
}

impl Client {
    /// Puts a file on the homeserver (`POST /_matrix/media/v3/upload`); gives its `mxc://` address.
    ///
    /// # Errors
    /// See [`HsError`].
    pub async fn upload(
        &self,
        user: &UserId,
        content_type: &'static str,
        name: &str,
        bytes: Bytes,
    ) -> Result<String, HsError> {
        let request = self.request("upload", Method::POST, "/_matrix/media/v3", &["upload"]).by(user);
        let request = request.query("filename", name).content(content_type, bytes).timeout(SLOW);
        let uploaded: Uploaded = request.call().await?;
        Ok(uploaded.content_uri)
    }

    /// The bytes of a file (`GET /_matrix/client/v1/media/download`), at most `limit` of them: a stranger's file must
    /// not fill the memory.
    ///
    /// # Errors
    /// See [`HsError`]; `M_TOO_LARGE` for a file beyond the limit, and `M_BAD_PARAM` for an address that is none.
    pub async fn download(&self, who: AsDevice<'_>, url: &MxcUri, limit: usize) -> Result<Bytes, HsError> {
        let (server, media) = url.parts().map_err(|_| no_address())?;
        let path = ["media", "download", ServerName::as_str(server), media];
        let request = self.request("download", Method::GET, "/_matrix/client/v1", &path).of_device(who);
        request.timeout(SLOW).at_most(limit).file().await
    }
}

fn no_address() -> HsError {
    let (errcode, message) = ("M_BAD_PARAM".to_owned(), "this is no address of a file".to_owned());
    HsError::Refused { status: 400, errcode, message }
}
