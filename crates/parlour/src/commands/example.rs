//! `parlour example`: the files `config.example.toml` and `registration.yaml.example` of the project, which a test
//! holds equal to this.

use parlour_matrix::{Registration, Wanted};

use crate::{cli::Example, config, failure::Failure, output};

pub(crate) fn run(file: Example) -> Result<(), Failure> {
    match file {
        Example::Config => output::say(&config::example()),
        Example::Registration => output::say(&registration()),
    }
    Ok(())
}

/// What `parlour registration` makes of the example config, but for the tokens.
fn registration() -> String {
    let wanted = Wanted {
        bridge_id: config::bridge_id("parlour"),
        appservice_url: "http://127.0.0.1:9880".to_owned(),
        server_name: "example.org".to_owned(),
        puppet_prefix: "agent_".to_owned(),
        bot: "parlour".to_owned(),
        lobby_aliases: vec!["lobby".to_owned()],
    };
    let tokens = ["as_token", "hs_token"].map(|name| format!("{name} comes from parlour registration"));
    Registration::generate(&wanted, tokens).to_yaml()
}
