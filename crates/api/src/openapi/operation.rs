use http::StatusCode;
use parlour_domain::fault::Code;
use schemars::JsonSchema;
use serde_json::Value;

use super::{Parameter, schema::Shape};

/// One method of one path, as the document tells of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Operation {
    pub(super) id: &'static str,
    pub(super) summary: &'static str,
    pub(super) description: &'static str,
    pub(super) signed: bool,
    pub(super) parameters: &'static [Parameter],
    pub(super) body: Option<Shape>,
    pub(super) requests: Vec<Value>,
    /// Of every success that has a body.
    pub(super) answer: Option<Shape>,
    pub(super) answers: Vec<Answer>,
    pub(super) codes: Vec<Code>,
}

/// One kind of success.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) what: &'static str,
    /// Without `schemaVersion`; none where there is no body.
    pub(super) example: Option<Value>,
}

impl Operation {
    /// Its name in generated clients, and what it is for in a few words.
    pub(crate) fn named(self, id: &'static str, summary: &'static str) -> Self {
        Self { id, summary, ..self }
    }

    pub(crate) fn says(self, description: &'static str) -> Self {
        Self { description, ..self }
    }

    /// A body that it takes; the first is what the page fills in.
    pub(crate) fn asked(mut self, example: Value) -> Self {
        self.requests.push(example);
        self
    }

    pub(crate) fn answers(self, status: StatusCode, what: &'static str, example: Value) -> Self {
        self.answered(Answer { status, what, example: Some(example) })
    }

    /// 204.
    pub(crate) fn done(self, what: &'static str) -> Self {
        self.answered(Answer { status: StatusCode::NO_CONTENT, what, example: None })
    }

    fn answered(mut self, answer: Answer) -> Self {
        self.answers.push(answer);
        self
    }

    /// What its use case can refuse with, besides what its extractors say.
    pub(crate) fn refuses(mut self, codes: &[Code]) -> Self {
        for code in codes {
            if !self.codes.contains(code) {
                self.codes.push(*code);
            }
        }
        self
    }

    pub(super) fn takes<T: JsonSchema>(&mut self) {
        self.body = Some(Shape::read::<T>());
    }

    pub(super) fn gives<T: JsonSchema>(&mut self) {
        self.answer = Some(Shape::written::<T>());
    }

    /// Whether it says that it can succeed in this way. An answer that is none of ours (a handler's status alone) is none.
    pub(super) fn has_answer(&self, status: StatusCode) -> bool {
        self.answers.iter().any(|a| a.status == status)
    }

    /// Every code that it can answer with.
    pub(crate) fn codes(&self) -> &[Code] {
        &self.codes
    }
}
