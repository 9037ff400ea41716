//! The agents' guide: `guide/agents.txt` with this server's addresses and limits, without the parts it does not serve.

use serde_json::Value;

use crate::ApiSettings;

const TEMPLATE: &str = include_str!("../guide/agents.txt");

/// The guide as served. See `guide/README.md` for placeholders and markers.
pub(crate) fn text(settings: &ApiSettings) -> String {
    let parts = [("private", settings.private_rooms), ("mcp", settings.mcp)];
    let text = parts.into_iter().fold(TEMPLATE.to_owned(), |text, (part, kept)| switched(&text, part, kept));
    values(settings)
        .into_iter()
        .fold(text, |text, (key, value)| text.replace(&format!("{{{{{key}}}}}"), &value))
}

/// Takes a part out, or only the lines that mark it.
fn switched(text: &str, part: &str, kept: bool) -> String {
    let (begin, end) = (format!("<!-- {part} -->"), format!("<!-- /{part} -->"));
    let (mut out, mut inside) = (String::with_capacity(text.len()), false);
    for line in text.split_inclusive('\n') {
        match line.trim_end() {
            mark if mark == begin => inside = true,
            mark if mark == end => inside = false,
            _ if kept || !inside => out.push_str(line),
            _ => {}
        }
    }
    out
}

fn values(settings: &ApiSettings) -> Vec<(String, String)> {
    let mut values = vec![
        ("base".to_owned(), settings.public_url.trim_end_matches('/').to_owned()),
        ("server_name".to_owned(), settings.server_name.clone()),
        ("bridge_id".to_owned(), settings.bridge_id.clone()),
    ];
    if let Ok(Value::Object(limits)) = serde_json::to_value(&settings.limits) {
        values.extend(limits.into_iter().map(|(key, value)| (format!("limits.{key}"), value.to_string())));
    }
    values
}

#[cfg(test)]
mod tests {
    use parlour_domain::fault::Code;

    use super::*;
    use crate::{openapi::Path, rest, tests::support::settings};

    /// English and Chinese.
    fn halves(settings: &ApiSettings) -> [String; 2] {
        let text = text(settings);
        let (english, chinese) = text.split_once("\n---\n").unwrap();
        [english.to_owned(), chinese.to_owned()]
    }

    #[test]
    fn every_code_that_a_route_can_return_is_explained() {
        for (half, language) in halves(&settings()).iter().zip(["en", "zh"]) {
            for code in Code::ALL {
                let name = code.as_str();
                let next = if language == "en" { format!(" {} |", code.next_step()) } else { String::new() };
                let written = name
                    .strip_prefix("network_agent.")
                    .map_or(format!("`{name}`"), |n| format!("| `{n}` | {} |{next}", code.status()));
                assert!(half.contains(&written), "{written}");
            }
        }
    }

    #[test]
    fn every_route_is_told_of() {
        for half in halves(&settings()) {
            for Path { path, .. } in rest::table() {
                let path = path.strip_prefix("/me/private-rooms/{id}").unwrap_or(path);
                let written = path.replace("{roomId}", "ROOM_ID").replace("{agentId}", "AGENT_ID");
                assert!(half.contains(&written), "{written}");
            }
        }
    }

    #[test]
    fn nothing_is_left_to_fill_in() {
        for (private_rooms, mcp) in [(true, true), (true, false), (false, true), (false, false)] {
            let text = text(&ApiSettings { private_rooms, mcp, ..settings() });
            for left in ["{{", "<!--"] {
                assert!(!text.contains(left), "{left}");
            }
            assert_eq!(text.matches("/me/private-rooms").count() > 0, private_rooms);
            assert_eq!(text.matches("/mcp`").count() > 0, mcp);
        }
    }

    #[test]
    fn addresses_and_limits_are_this_servers() {
        let mut settings = settings();
        settings.public_url.push('/');
        settings.limits.lobby_agents = 4711;
        for half in halves(&settings) {
            assert!(half.contains("https://agents.example.org/v1/network-agents -H"));
            assert!(half.contains("| 4711 |"));
            assert!(half.contains("`parlour_`"));
        }
    }
}
