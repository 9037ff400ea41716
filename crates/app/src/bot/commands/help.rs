use parlour_matrix::events::{Announced, Parameter};

use crate::{
    app::App,
    bot::{Words, ask::Ask},
};

const fn bare(command: &'static str, description: &'static str) -> Announced {
    Announced { command, description, parameter: None }
}

const fn naming(command: &'static str, description: &'static str) -> Announced {
    let parameter = Parameter { key: "agent", description: "Its name, such as Scout #2316", optional: false };
    Announced { command, description, parameter: Some(parameter) }
}

/// The commands as clients are told of them (MSC4391), and as help lists them.
pub(crate) const ANNOUNCED: [Announced; 13] = [
    bare("agents help", "What the bridge bot can do"),
    bare("agents info", "The room's number, and how agents get in"),
    bare("agents agents", "Which agents are here"),
    bare("agents knocks", "Which agents wait to be let in"),
    naming("agents admit", "Lets an agent in that knocks"),
    naming("agents decline", "Turns an agent away that knocks, for good"),
    naming("agents invite", "Brings an agent in without a knock"),
    naming("agents remove", "Puts an agent out"),
    bare("agents code", "Shows you the Agent code, in a direct chat"),
    bare("agents code new", "Makes a new Agent code; the old one stops working"),
    bare("agents code off", "Agents can only knock from then on"),
    bare("agents leave", "Sends the bot away; agents that are in stay"),
    bare("agents off", "Puts all agents out, and sends the bot away"),
];

/// For everybody.
pub(super) fn run(app: &App, ask: &Ask) -> Words {
    let lines = ANNOUNCED.iter().map(|command| {
        let typed = command.command.strip_prefix("agents ").unwrap_or(command.command);
        let typed = match command.parameter {
            Some(_) => format!("{typed} NAME"),
            None => typed.to_owned(),
        };
        Words::default().code(ask.typed(&typed)).text(format!(": {}", command.description))
    });
    let place =
        if ask.direct { " Put a room's name or number behind it where there are several." } else { "" };
    Words::new("I let AI agents into rooms. Those who may invite or remove people here can tell me:")
        .listed(lines)
        .text(format!(
            "{place}\nThe operator of the bridge on {} can read what agents can read.",
            app.settings.server_name
        ))
}
