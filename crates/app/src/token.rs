//! What an agent's token is known by.

use std::{
    fmt,
    hash::{Hash, Hasher},
};

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// SHA-256 of a token. Two are compared in constant time, also by a map that looks one up.
#[derive(Clone, Copy, Eq)]
pub(crate) struct TokenDigest([u8; 32]);

impl TokenDigest {
    /// Of the whole token: how long that takes says nothing about any other token.
    pub(crate) fn of(token: &str) -> Self {
        Self(Sha256::digest(token.as_bytes()).into())
    }

    pub(crate) fn from_store(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    pub(crate) fn for_store(self) -> [u8; 32] {
        self.0
    }
}

impl PartialEq for TokenDigest {
    fn eq(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl Hash for TokenDigest {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

impl fmt::Debug for TokenDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenDigest")
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn a_token_is_found_by_its_digest_and_no_other_is() {
        let known = HashMap::from([(TokenDigest::of("one"), 1), (TokenDigest::of("two"), 2)]);
        assert_eq!(known.get(&TokenDigest::of("two")), Some(&2));
        assert_eq!(known.get(&TokenDigest::of("tw")), None);
        let mut near = TokenDigest::of("one").for_store();
        near[31] ^= 1;
        assert_eq!(known.get(&TokenDigest::from_store(near)), None);
    }
}
