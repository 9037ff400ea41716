//! The sealing key: secrets lie in the database encrypted and bound to their place.
//!
//! XChaCha20-Poly1305 with a random nonce of 24 bytes per value. The place (account, kind and key of a row, for
//! instance) is authenticated along, so that a sealed value cannot be moved to another row. Values look like this: one
//! byte version (1), the nonce, the ciphertext with its tag. Both working keys are derived from the one secret by
//! HMAC-SHA-256, so that no bytes serve two purposes.

use std::fmt;

use chacha20poly1305::{
    KeyInit, XChaCha20Poly1305, XNonce,
    aead::{Aead, Payload},
};
use hmac::{Hmac, Mac};
use rand::RngCore;
use sha2::Sha256;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

const VERSION: u8 = 1;
const NONCE: usize = 24;

/// The bridge's sealing key. Cheap enough to clone; wiped from memory when dropped, hidden from `Debug`.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct SealingKey {
    sealing: [u8; 32],
    lookup: [u8; 32],
}

/// A sealed value that this key, or this place, does not open. Or it was altered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a sealed value does not open; is the sealing key the one that this database was written with? \
     Put that key back beside the database"
)]
pub struct SealError;

impl SealingKey {
    /// From 32 bytes of chance, which the caller keeps and wipes.
    #[must_use]
    pub fn new(secret: &[u8; 32]) -> Self {
        Self { sealing: derive(secret, b"parlour sealing 1"), lookup: derive(secret, b"parlour lookup 1") }
    }

    /// Seals `plain` for this place only. `place` is any list of byte strings; the same list opens it.
    #[must_use]
    pub fn seal(&self, place: &[&[u8]], plain: &[u8]) -> Vec<u8> {
        let mut nonce = [0; NONCE];
        // Like the keys that the SDK makes, a nonce is nothing that a test could want to foresee.
        rand::rng().fill_bytes(&mut nonce);
        let aad = bound(place);
        let payload = Payload { msg: plain, aad: &aad };
        // Fails only beyond 256 GiB, more than a buffer can hold here.
        let sealed = self.cipher().encrypt(XNonce::from_slice(&nonce), payload).unwrap_or_default();
        [&[VERSION], nonce.as_slice(), &sealed].concat()
    }

    /// Opens what [`seal`](Self::seal) made for the same place.
    ///
    /// # Errors
    /// Another key, another place, or bytes that are no sealed value.
    pub fn open(&self, place: &[&[u8]], sealed: &[u8]) -> Result<Zeroizing<Vec<u8>>, SealError> {
        let (head, rest) = sealed.split_first().ok_or(SealError)?;
        if *head != VERSION {
            return Err(SealError);
        }
        let (nonce, ciphertext) = rest.split_at_checked(NONCE).ok_or(SealError)?;
        let aad = bound(place);
        let payload = Payload { msg: ciphertext, aad: &aad };
        let plain = self.cipher().decrypt(XNonce::from_slice(nonce), payload).map_err(|_| SealError)?;
        Ok(Zeroizing::new(plain))
    }

    /// A digest to find a secret by without keeping it, such as an Agent code in its canonical spelling. Who has the
    /// database but not the key cannot try codes against it.
    #[must_use]
    pub fn lookup(&self, purpose: &str, secret: &[u8]) -> [u8; 32] {
        derive(&self.lookup, &bound(&[purpose.as_bytes(), secret]))
    }

    fn cipher(&self) -> XChaCha20Poly1305 {
        XChaCha20Poly1305::new((&self.sealing).into())
    }
}

impl fmt::Debug for SealingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SealingKey(..)")
    }
}

/// One byte string from several: each with its length before it, so that no two lists give the same.
fn bound(parts: &[&[u8]]) -> Vec<u8> {
    let mut all = Vec::with_capacity(parts.iter().map(|part| part.len() + 8).sum());
    for part in parts {
        all.extend_from_slice(&(part.len() as u64).to_be_bytes());
        all.extend_from_slice(part);
    }
    all
}

fn derive(key: &[u8; 32], label: &[u8]) -> [u8; 32] {
    // HMAC takes keys of any length (RFC 2104), so this cannot fail; an array of the block's size never does.
    let mut block = [0; 64];
    block[..32].copy_from_slice(key);
    let mut mac = <Hmac<Sha256> as hmac::KeyInit>::new((&block).into());
    mac.update(label);
    block.zeroize();
    mac.finalize().into_bytes().into()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn key(byte: u8) -> SealingKey {
        SealingKey::new(&[byte; 32])
    }

    #[test]
    fn opens_with_the_same_key_in_the_same_place_only() {
        let sealed = key(1).seal(&[b"row", b"a"], b"secret");
        assert_eq!(key(1).open(&[b"row", b"a"], &sealed).unwrap().as_slice(), b"secret");
        assert_eq!(key(2).open(&[b"row", b"a"], &sealed), Err(SealError));
        assert_eq!(key(1).open(&[b"row", b"b"], &sealed), Err(SealError));
        assert_eq!(key(1).open(&[b"rowa"], &sealed), Err(SealError));
        assert_eq!(key(1).open(&[b"ro", b"wa"], &sealed), Err(SealError));
    }

    #[test]
    fn no_two_sealed_values_are_alike_and_none_shows_its_text() {
        let (one, two) = (key(1).seal(&[], b"secret words"), key(1).seal(&[], b"secret words"));
        assert_ne!(one, two);
        assert!(!one.windows(6).any(|window| window == b"secret"));
    }

    #[test]
    fn any_altered_bit_is_noticed() {
        let sealed = key(1).seal(&[b"p"], b"x");
        for bit in 0..sealed.len() * 8 {
            let mut altered = sealed.clone();
            altered[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(key(1).open(&[b"p"], &altered), Err(SealError), "bit {bit}");
        }
    }

    #[test]
    fn digests_depend_on_key_purpose_and_secret() {
        let digest = key(1).lookup("code", b"ABCD");
        assert_eq!(digest, key(1).lookup("code", b"ABCD"));
        for other in
            [key(2).lookup("code", b"ABCD"), key(1).lookup("cod", b"eABCD"), key(1).lookup("code", b"X")]
        {
            assert_ne!(digest, other);
        }
    }

    #[test]
    fn the_key_hides_from_debug() {
        assert_eq!(format!("{:?}", key(7)), "SealingKey(..)");
    }

    proptest! {
        #[test]
        fn strange_bytes_do_not_open_and_do_not_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            prop_assert_eq!(key(1).open(&[], &bytes), Err(SealError));
        }
    }
}
