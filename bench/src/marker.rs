//! Markers: short unique words in message texts, by which one message is known again on every way it takes.
use crate::clock::fresh_id;

const PREFIX: &str = "mark:";
const LENGTH: usize = PREFIX.len() + 32;

/// A new marker.
pub(crate) fn fresh() -> String {
    format!("{PREFIX}{}", fresh_id())
}

/// The first marker in a text.
pub(crate) fn find(text: &str) -> Option<&str> {
    let start = text.find(PREFIX)?;
    text.get(start..start + LENGTH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marker_is_found_inside_a_text() {
        let marker = fresh();
        assert_eq!(find(&format!("so {marker}, then")), Some(marker.as_str()));
        assert_eq!(find("mark:short"), None);
        assert_eq!(find("nothing"), None);
    }
}
