mod crypto;
mod devices;
mod schema;
