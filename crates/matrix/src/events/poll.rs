//! A poll as text: the question, and the answers below it (`m.poll.start`, MSC3381 in its stable and unstable form).

use serde_json::value::RawValue;

use crate::json::{Fields, clean, list, string};

/// The specification allows twenty.
const MAX_ANSWERS: usize = 20;

pub(super) fn text(content: &Fields<'_>) -> Option<String> {
    let poll = ["m.poll", "m.poll.start", "org.matrix.msc3381.poll.start"]
        .iter()
        .find_map(|key| content.object(key));
    structured(poll).or_else(|| label(content))
}

fn structured(poll: Option<Fields<'_>>) -> Option<String> {
    let poll = poll?;
    let mut text = label(&poll.object("question")?)?;
    let answers = poll.list("answers").unwrap_or_default();
    let labels = answers.into_iter().filter_map(|answer| label(&Fields::of(answer)?));
    for (at, answer) in labels.take(MAX_ANSWERS).enumerate() {
        text.push_str(&format!("\n{}. {answer}", at + 1));
    }
    Some(text)
}

/// A text in one of the forms that extensible events have had.
fn label(fields: &Fields<'_>) -> Option<String> {
    let block = ["m.text", "org.matrix.msc1767.text", "body"].iter().find_map(|key| words(fields.get(key)?));
    block.filter(|text| !text.trim().is_empty())
}

fn words(raw: &RawValue) -> Option<String> {
    if let Some(text) = string(raw) {
        return Some(clean(text));
    }
    let forms: Vec<Fields<'_>> = list(raw)?.into_iter().filter_map(Fields::of).collect();
    let plain = forms.iter().find(|form| form.str("mimetype").is_none_or(|kind| kind == "text/plain"));
    plain.or(forms.first())?.text("body")
}
