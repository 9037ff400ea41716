//! What a handler's signature says: what it takes, what it gives, and how its extractors refuse.

use axum::extract::State;
use parlour_domain::fault::Code;
use schemars::JsonSchema;

use super::Operation;
use crate::{
    error::Refusal,
    extract::{At, By, From as FromSource, FromQuery, Opened, Posted, Query, Shared, Signed},
    wire::{Answered, Done},
};

/// An extractor.
pub(crate) trait Part {
    fn told(operation: &mut Operation);
}

impl Part for State<Shared> {
    fn told(_: &mut Operation) {}
}

impl Part for FromSource {
    fn told(_: &mut Operation) {}
}

/// Whatever is done for an agent needs the store.
impl Part for By {
    fn told(operation: &mut Operation) {
        operation.signed = true;
        refuses(operation, &[Code::Disabled, Code::Unauthorized, Code::DependencyUnavailable]);
    }
}

impl<T: Posted + JsonSchema> Part for Opened<T> {
    fn told(operation: &mut Operation) {
        operation.takes::<T>();
        refuses(operation, &[Code::Disabled, Code::InvalidRequest, Code::DependencyUnavailable]);
    }
}

impl<T: Posted + JsonSchema> Part for Signed<T> {
    fn told(operation: &mut Operation) {
        By::told(operation);
        Opened::<T>::told(operation);
    }
}

impl<T: FromQuery> Part for Query<T> {
    fn told(operation: &mut Operation) {
        operation.parameters = T::PARAMETERS;
        refuses(operation, &[Code::InvalidRequest]);
    }
}

impl<T> Part for At<T> {
    /// A path whose id is empty is another path.
    fn told(operation: &mut Operation) {
        refuses(operation, &[Code::InvalidRequest, Code::RouteNotFound]);
    }
}

impl<P: Part> Part for Result<P, Refusal> {
    fn told(operation: &mut Operation) {
        P::told(operation);
    }
}

fn refuses(operation: &mut Operation, codes: &[Code]) {
    *operation = std::mem::take(operation).refuses(codes);
}

/// What a handler gives back.
pub(crate) trait Outcome {
    fn told(operation: &mut Operation);
}

impl<T: JsonSchema> Outcome for Answered<T> {
    fn told(operation: &mut Operation) {
        operation.gives::<T>();
    }
}

impl Outcome for Result<Done, Refusal> {
    fn told(_: &mut Operation) {}
}

/// A handler whose signature can be told of. `P` are its extractors.
pub(crate) trait Told<P> {
    fn operation() -> Operation;
}

macro_rules! told {
    ($($part:ident)*) => {
        impl<F, Answer, $($part),*> Told<($($part,)*)> for F
        where
            F: Fn($($part),*) -> Answer,
            Answer: Future,
            Answer::Output: Outcome,
            $($part: Part,)*
        {
            fn operation() -> Operation {
                let mut operation = Operation::default();
                $($part::told(&mut operation);)*
                <Answer::Output as Outcome>::told(&mut operation);
                operation.refuses(&[Code::Internal])
            }
        }
    };
}

told!(A);
told!(A B);
told!(A B C);
told!(A B C D);
