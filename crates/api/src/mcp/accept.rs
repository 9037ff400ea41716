//! Which of the two forms of answer a client takes.
//!
//! JSON wherever it is taken: a wait of 30 s costs less without a stream, and more hosts read it right. Clients that
//! send no `Accept`, or one that fits neither form, get JSON as well; refusing them would help nobody.

use http::{HeaderMap, header};

const STREAM: &str = "text/event-stream";
const JSON: [&str; 3] = ["application/json", "application/*", "*/*"];

/// Whether an event stream is asked for and JSON is not.
pub(super) fn only_streams(headers: &HeaderMap) -> bool {
    let values = headers.get_all(header::ACCEPT).iter().filter_map(|v| v.to_str().ok());
    let ranges: Vec<String> = values.flat_map(|v| v.split(',')).filter_map(taken).collect();
    ranges.iter().any(|r| r == STREAM) && !ranges.iter().any(|r| JSON.contains(&r.as_str()))
}

/// A media range without its parameters, unless its weight is nought (RFC 9110, 12.5.1).
fn taken(range: &str) -> Option<String> {
    let mut parts = range.split(';').map(str::trim);
    let kind = parts.next()?.to_ascii_lowercase();
    let refused = parts.filter_map(|p| p.split_once('=')).any(|(name, weight)| {
        name.trim().eq_ignore_ascii_case("q") && weight.trim().parse::<f32>().is_ok_and(|w| w <= 0.0)
    });
    (!refused && !kind.is_empty()).then_some(kind)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::absent(&[], false)]
    #[case::anything(&["*/*"], false)]
    #[case::empty(&[""], false)]
    #[case::json(&["application/json"], false)]
    #[case::both(&["application/json, text/event-stream"], false)]
    #[case::both_apart(&["text/event-stream", "application/json"], false)]
    #[case::neither(&["text/html"], false)]
    #[case::stream(&["text/event-stream"], true)]
    #[case::stream_in_capitals(&["Text/Event-Stream; charset=utf-8"], true)]
    #[case::json_refused(&["application/json;q=0, text/event-stream"], true)]
    #[case::json_refused_otherwise(&["*/*; Q=0.0,text/event-stream"], true)]
    #[case::json_less_liked(&["text/event-stream, application/json;q=0.1"], false)]
    #[case::odd_weight(&["text/event-stream, application/json;q=much"], false)]
    #[case::stream_refused(&["text/event-stream;q=0"], false)]
    fn forms(#[case] values: &[&str], #[case] stream: bool) {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(header::ACCEPT, value.parse().unwrap());
        }
        assert_eq!(only_streams(&headers), stream);
    }
}
