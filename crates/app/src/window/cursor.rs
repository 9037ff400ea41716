//! Where somebody who follows is. Arrival numbers count private messages, too, so they are sealed.

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use parlour_domain::ids::Seq;
use parlour_matrix::crypto::SealingKey;

const PLACE: &[&[u8]] = &[b"window cursor"];

/// Everything that arrived up to here is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cursor(pub(crate) Seq);

impl Cursor {
    pub(crate) fn write(self, key: &SealingKey) -> String {
        BASE64_URL_SAFE_NO_PAD.encode(key.seal(PLACE, &self.0.0.to_le_bytes()))
    }

    /// `None`: not written by this bridge.
    pub(crate) fn read(text: &str, key: &SealingKey) -> Option<Self> {
        let sealed = BASE64_URL_SAFE_NO_PAD.decode(text).ok()?;
        let plain = key.open(PLACE, &sealed).ok()?;
        Some(Self(Seq(i64::from_le_bytes(plain.as_slice().try_into().ok()?))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_this_bridge_wrote_is_read() {
        let (ours, theirs) = (SealingKey::new(&[1; 32]), SealingKey::new(&[2; 32]));
        let cursor = Cursor(Seq(4711));
        let text = cursor.write(&ours);
        assert_eq!(Cursor::read(&text, &ours), Some(cursor));
        assert_eq!(Cursor::read(&text, &theirs), None);
        assert_eq!(Cursor::read(&text[1..], &ours), None);
        for other in ["", "4711", "....", &"A".repeat(9_999)] {
            assert_eq!(Cursor::read(other, &ours), None, "{other}");
        }
        assert_ne!(cursor.write(&ours), text, "two cursors tell nothing of each other");
    }
}
