//! What a tool gives back, and how it is written.

use parlour_domain::fault::Fault;
use rmcp::model::{CallToolResult, ContentBlock};
use serde::Serialize;
use serde_json::Value;

use crate::{correlation::CorrelationId, error, wire::Versioned};

/// The body of the REST route, and a word on what to do next. That word is ours alone: no name, no text that somebody
/// else chose may stand where a model looks for advice.
#[derive(Clone, Debug)]
pub(super) struct Said<T> {
    body: T,
    next: Option<&'static str>,
}

pub(super) type Outcome<T> = Result<Said<T>, Fault>;

/// # Errors
/// None. The form is what tools return.
pub(super) fn said<T>(body: T, next: impl Into<Option<&'static str>>) -> Outcome<T> {
    Ok(Said { body, next: next.into() })
}

impl<T: Serialize> Said<T> {
    /// # Errors
    /// It cannot be written; no body of ours is like that.
    pub(super) fn written(self) -> Outcome<Value> {
        let body = serde_json::to_value(Versioned::new(self.body));
        // the error of a serializer may repeat what it stumbled over
        let body = body.map_err(|_| Fault::internal("an answer cannot be written"))?;
        Ok(Said { body, next: self.next })
    }
}

pub(super) fn result(outcome: Outcome<Value>, id: CorrelationId) -> CallToolResult {
    match outcome {
        Ok(Said { body, next }) => {
            let next = next.map(ContentBlock::text);
            let content = next.into_iter().chain([ContentBlock::text(body.to_string())]).collect();
            structured(CallToolResult::success(content), body)
        }
        Err(fault) => refused(&fault, id),
    }
}

/// Hosts that show only the texts get everything, too: the code and what to do, when, and the envelope.
fn refused(fault: &Fault, id: CorrelationId) -> CallToolResult {
    let envelope = error::envelope(fault, id);
    let when = error::retry_after(fault).map(|s| format!("Try again after {s} seconds."));
    let texts = [Some(fault.to_string()), when, Some(envelope.to_string())];
    let content = texts.into_iter().flatten().map(ContentBlock::text).collect();
    structured(CallToolResult::error(content), envelope)
}

fn structured(mut result: CallToolResult, content: Value) -> CallToolResult {
    result.structured_content = Some(content);
    result
}
