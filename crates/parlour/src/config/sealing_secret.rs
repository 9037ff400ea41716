//! The secret that the sealing key is made of.

use std::fmt::{self, Write as _};

use base64::{Engine, engine::general_purpose::STANDARD};

/// 32 bytes. Hides from `Debug`.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct SealingSecret([u8; 32]);

impl SealingSecret {
    pub(crate) fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// 64 hexadecimal digits, or base 64 of 32 bytes. The text is not repeated in the error.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let bytes = hex(text).or_else(|| STANDARD.decode(text).ok());
        let bytes = bytes.and_then(|b| b.try_into().ok());
        bytes
            .map(Self)
            .ok_or_else(|| "does not hold a key: 64 hexadecimal digits, or 32 bytes in base 64".to_owned())
    }

    pub(crate) fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// As it stands in the key's file.
    pub(crate) fn reveal(&self) -> String {
        self.0.iter().fold(String::with_capacity(64), |mut text, byte| {
            // writing to a string cannot fail
            let _ = write!(text, "{byte:02x}");
            text
        })
    }
}

impl fmt::Debug for SealingSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SealingSecret(..)")
    }
}

fn hex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> =
        text.chars().map(|c| c.to_digit(16).and_then(|d| u8::try_from(d).ok())).collect();
    let digits = digits.filter(|d| d.len() == 64)?;
    Some(digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hexadecimal_and_base_64() {
        let bytes: [u8; 32] = std::array::from_fn(|i| i as u8 * 7);
        let secret = SealingSecret::new(bytes);
        let spellings = [secret.reveal(), secret.reveal().to_uppercase(), STANDARD.encode(bytes)];
        for text in spellings {
            assert_eq!(SealingSecret::parse(&text), Ok(secret.clone()), "{text}");
        }
    }

    #[test]
    fn anything_else_is_refused_and_not_repeated() {
        for text in
            ["", "hunter2", &"0".repeat(63), &"0".repeat(65), &"g".repeat(64), &STANDARD.encode([1; 31])]
        {
            let error = SealingSecret::parse(text).unwrap_err();
            assert!(text.is_empty() || !error.contains(text), "{error}");
        }
        assert_eq!(format!("{:?}", SealingSecret::new([7; 32])), "SealingSecret(..)");
    }
}
