use axum::{
    handler::Handler,
    response::Response,
    routing::{MethodFilter, MethodRouter},
};
use http::Method;

use super::{Operation, parts::Told};
use crate::{error::Refusal, extract::Shared};

/// A path, what answers it, and what the document tells of that.
pub(crate) struct Path {
    pub(crate) path: &'static str,
    pub(crate) answers: MethodRouter<Shared>,
    pub(crate) operations: Vec<(Method, Operation)>,
}

/// A handler's own words about itself, added to those of its signature.
type Doc = fn(Operation) -> Operation;

impl Path {
    pub(crate) fn new(path: &'static str) -> Self {
        Self { path, answers: MethodRouter::new(), operations: Vec::new() }
    }

    pub(crate) fn get<H, T, P>(self, handler: H, doc: Doc) -> Self
    where
        H: Handler<T, Shared> + Told<P>,
        T: 'static,
    {
        self.on(Method::GET, MethodFilter::GET, handler, doc)
    }

    pub(crate) fn post<H, T, P>(self, handler: H, doc: Doc) -> Self
    where
        H: Handler<T, Shared> + Told<P>,
        T: 'static,
    {
        self.on(Method::POST, MethodFilter::POST, handler, doc)
    }

    pub(crate) fn put<H, T, P>(self, handler: H, doc: Doc) -> Self
    where
        H: Handler<T, Shared> + Told<P>,
        T: 'static,
    {
        self.on(Method::PUT, MethodFilter::PUT, handler, doc)
    }

    pub(crate) fn delete<H, T, P>(self, handler: H, doc: Doc) -> Self
    where
        H: Handler<T, Shared> + Told<P>,
        T: 'static,
    {
        self.on(Method::DELETE, MethodFilter::DELETE, handler, doc)
    }

    /// Answers HEAD, where GET's own handler must not.
    pub(crate) fn head<H, T>(self, handler: H) -> Self
    where
        H: Handler<T, Shared>,
        T: 'static,
    {
        Self { answers: self.answers.on(MethodFilter::HEAD, handler), ..self }
    }

    fn on<H, T, P>(mut self, method: Method, filter: MethodFilter, handler: H, doc: Doc) -> Self
    where
        H: Handler<T, Shared> + Told<P>,
        T: 'static,
    {
        let operation = doc(H::operation());
        let answers = if cfg!(debug_assertions) {
            let told = operation.clone();
            let checked =
                axum::middleware::map_response(move |r: Response| std::future::ready(checked(&told, r)));
            self.answers.on(filter, handler.layer(checked))
        } else {
            self.answers.on(filter, handler)
        };
        self.operations.push((method, operation));
        Self { answers, ..self }
    }
}

/// In every test, also those of the whole binary: no answer that the document does not tell of.
#[allow(clippy::panic, reason = "not in what is released")]
fn checked(operation: &Operation, response: Response) -> Response {
    let told = match response.extensions().get::<Refusal>() {
        Some(refusal) => operation.codes().contains(&refusal.code()),
        None => operation.has_answer(response.status()),
    };
    let refusal = response.extensions().get::<Refusal>().map(|r| r.code().as_str());
    assert!(told, "{} answers {} {refusal:?}, which its doc does not say", operation.id, response.status());
    response
}
