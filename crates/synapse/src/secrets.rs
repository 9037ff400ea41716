//! Keys and passwords of throw-away homeservers: made once, kept in a file that only its owner reads.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use anyhow::{Context, Result};
use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;

/// The secret in this file; when the file is not there, `make` makes the secret and it is kept there, mode 0600.
///
/// # Errors
/// The file can neither be read nor made.
pub fn keep_secret(path: &Path, make: impl FnOnce() -> Result<String>) -> Result<String> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(text.trim().to_owned()),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let secret = make()?;
            write_private(path, &secret)?;
            Ok(secret)
        }
        Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
    }
}

/// So many random bytes as hexadecimal digits.
///
/// # Errors
/// The system has no `/dev/urandom`.
pub fn random_hex(bytes: usize) -> Result<String> {
    Ok(random(bytes)?.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// A signing key in Synapse's file format (algorithm, version, seed). Made here because `--generate-keys` costs a
/// second Python start.
pub(crate) fn signing_key() -> Result<String> {
    Ok(format!("ed25519 a_{} {}", random_hex(2)?, STANDARD_NO_PAD.encode(random(32)?)))
}

/// Writes the whole file, mode 0600, replacing what was there.
pub(crate) fn write_private(path: &Path, text: &str) -> Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    let mut file = options.open(path).with_context(|| format!("cannot write {}", path.display()))?;
    file.write_all(text.as_bytes()).with_context(|| format!("cannot write {}", path.display()))
}

fn random(bytes: usize) -> Result<Vec<u8>> {
    let mut buffer = vec![0; bytes];
    let mut source = File::open("/dev/urandom").context("cannot open /dev/urandom")?;
    source.read_exact(&mut buffer).context("cannot read /dev/urandom")?;
    Ok(buffer)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn keeps_what_was_made_first() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secret");
        let first = keep_secret(&path, || random_hex(24)).unwrap();
        assert_eq!(first.len(), 48);
        assert_eq!(keep_secret(&path, || Ok("other".into())).unwrap(), first);
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_signing_key_has_three_parts() {
        let key = signing_key().unwrap();
        let parts: Vec<&str> = key.split(' ').collect();
        assert_eq!((parts.len(), parts[0], parts[2].len()), (3, "ed25519", 43));
    }
}
