//! The homeserver side of the bridge: the appservice endpoint, the client that acts as puppets, and what stands
//! between Matrix events and the domain's messages.
//!
//! What comes from the homeserver was written by strangers. Everything here that reads it is lenient: it looks at one
//! level of JSON at a time, so that neither nesting nor one broken field takes the rest along.

pub mod appservice;
pub mod client;
pub mod crypto;
pub mod ephemeral;
pub mod events;
mod json;
pub mod registration;
pub mod transaction;

pub use appservice::{BoxFuture, Inbound, TransactionError, router};
pub use client::{
    AsDevice, Client, ClientError, CreateRoom, HsError, Login, MessagesPage, Profile, Pulled, Registered,
    Versions,
};
pub use events::Incoming;
pub use registration::{Namespace, Registration, RegistrationError, Wanted};
pub use transaction::{BadTransaction, Transaction};
