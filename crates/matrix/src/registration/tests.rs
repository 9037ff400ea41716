use std::{fs, path::Path};

use rstest::rstest;
use secrecy::ExposeSecret;

use super::*;

fn wanted() -> Wanted {
    Wanted {
        bridge_id: "parlour".into(),
        appservice_url: "http://127.0.0.1:9880".into(),
        server_name: "example.org".into(),
        puppet_prefix: "agent_".into(),
        bot: "parlour".into(),
        lobby_aliases: vec!["lobby".into(), "C++ (and more)".into()],
    }
}

fn generated() -> Registration {
    Registration::generate(&wanted(), ["as-secret".into(), "hs-secret".into()])
}

fn read(text: &str) -> Result<Registration, String> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("registration.yaml");
    fs::write(&path, text).unwrap();
    Registration::read(&path).map_err(|e| e.to_string().replace(&*dir.path().to_string_lossy(), "DIR"))
}

#[test]
fn the_file() {
    insta::assert_snapshot!(generated().to_yaml(), @r"
    # Tells the homeserver about this bridge. Synapse: name this file under app_service_config_files and restart it.
    # The homeserver and the bridge have to read the same file. Keep it secret: the tokens open every puppet.
    id: 'parlour'

    # Where the homeserver reaches the bridge.
    url: 'http://127.0.0.1:9880'

    # The bridge shows as_token to the homeserver, the homeserver shows hs_token to the bridge.
    as_token: 'as-secret'
    hs_token: 'hs-secret'

    # A user that nobody uses: homeservers give it neither devices nor sync.
    sender_localpart: '_parlour_parlour'

    # Two hundred agents come from one address. The bridge has limits of its own.
    rate_limited: false

    namespaces:
      # The agents' puppets and the bridge bot.
      users:
        - exclusive: true
          regex: '^@agent_.+:example\.org$'
        - exclusive: true
          regex: '^@parlour:example\.org$'
      # The lobbies. Not exclusive, so that the homeserver's admins can take an alias over.
      aliases:
        - exclusive: false
          regex: '^#lobby:example\.org$'
        - exclusive: false
          regex: '^#C\+\+ \(and more\):example\.org$'
      rooms: []

    # Typing and read receipts; the second name is for homeservers before Matrix 1.13.
    receive_ephemeral: true
    de.sorunome.msc2409.push_ephemeral: true

    # For encrypted rooms: device lists and key counts, and devices without login.
    org.matrix.msc3202: true
    io.element.msc4190: true
    ");
}

#[test]
fn what_is_written_is_read_back() {
    let mut written = generated();
    written.id = "it's: \"odd\"\n# \u{7}".into();
    let got = read(&written.to_yaml()).unwrap();
    assert_eq!(got.to_yaml(), written.to_yaml());
    assert_eq!(got.id, written.id);
    assert_eq!(got.as_token.expose_secret(), "as-secret");
    assert!(generated().mismatches(&wanted()).is_empty());
}

#[test]
fn tokens_stay_out_of_debug_output() {
    let text = format!("{:?}", generated());
    assert!(!text.contains("as-secret") && !text.contains("hs-secret"));
}

const LEAST: &str = "id: a\nas_token: b\nhs_token: c\nsender_localpart: d\n";

#[test]
fn missing_keys_mean_what_homeservers_take_them_for() {
    let got = read(&format!("{LEAST}url: null\nprotocols: []\ncom.example.key: 7\n")).unwrap();
    assert_eq!((got.url, got.rate_limited, got.receive_ephemeral, got.msc3202), (None, true, false, false));
    let older = read(&format!("{LEAST}de.sorunome.msc2409.push_ephemeral: true\nnamespaces:\n")).unwrap();
    assert!(older.receive_ephemeral && older.users.is_empty());
}

#[rstest]
#[case::missing("id: a\n", "as_token: is missing")]
#[case::no_text("id: a\nas_token: 4711\n", "as_token: has to be text")]
#[case::no_header("id: a\nas_token: \"4711 x\"\n", "as_token: may only hold")]
#[case::empty("id: ''\n", "id: must not be empty")]
#[case::no_flag(
    "id: a\nas_token: b\nhs_token: c\nsender_localpart: d\nrate_limited: maybe\n",
    "rate_limited: has to be true or false"
)]
#[case::no_list(
    "id: a\nas_token: b\nhs_token: c\nsender_localpart: d\nnamespaces: {users: {}}\n",
    "namespaces.users: has to be a list"
)]
#[case::no_regex(
    "id: a\nas_token: b\nhs_token: c\nsender_localpart: d\nnamespaces: {users: [{}]}\n",
    "namespaces.users[0].regex: is missing"
)]
#[case::no_yaml("id: [4711\n", "is no YAML (line")]
#[case::no_mapping("4711\n", "is no YAML;")]
fn errors_name_file_and_key_but_no_value(#[case] text: &str, #[case] error: &str) {
    let got = read(text).unwrap_err();
    assert!(got.contains("DIR/registration.yaml") && got.contains(error), "{got}");
    assert!(!got.contains("4711"), "{got}");
}

#[test]
fn a_file_that_is_not_there_says_how_to_get_one() {
    let got = Registration::read(Path::new("/no/such/registration.yaml")).unwrap_err().to_string();
    assert!(got.contains("/no/such/registration.yaml") && got.contains("parlour registration"), "{got}");
}

#[rstest]
#[case::url(|r: &mut Registration| r.url = None, "url:")]
#[case::sender(|r: &mut Registration| r.sender_localpart = "parlour".into(), "sender_localpart:")]
#[case::puppets(|r: &mut Registration| r.users.truncate(0), "namespaces.users: no exclusive entry for @agent_x1:example.org")]
#[case::not_exclusive(|r: &mut Registration| r.users[1].exclusive = false, "namespaces.users: no exclusive entry for @parlour:")]
#[case::alias(|r: &mut Registration| r.aliases.truncate(1), "namespaces.aliases: no entry for the lobby #C++ (and more):")]
#[case::no_regex(|r: &mut Registration| r.rooms.push(Namespace { exclusive: true, regex: "(".into() }), "namespaces.rooms[0]")]
#[case::limited(|r: &mut Registration| r.rate_limited = true, "rate_limited: set it to false")]
#[case::ephemeral(|r: &mut Registration| r.receive_ephemeral = false, "receive_ephemeral: set it to true")]
#[case::devices(|r: &mut Registration| r.msc3202 = false, "org.matrix.msc3202: set it to true")]
#[case::login(|r: &mut Registration| r.msc4190 = false, "io.element.msc4190: set it to true")]
fn what_no_longer_fits(#[case] change: fn(&mut Registration), #[case] line: &str) {
    let mut registration = generated();
    change(&mut registration);
    let got = registration.mismatches(&wanted());
    assert!(got.iter().any(|l| l.starts_with(line)), "{got:?}");
}

#[test]
fn other_ways_to_write_the_same_fit_too() {
    let mut registration = generated();
    registration.url = Some("http://127.0.0.1:9880/".into());
    registration.users = vec![Namespace { exclusive: true, regex: "@(agent_|parlour).*".into() }];
    registration.aliases = vec![Namespace { exclusive: true, regex: "#.*".into() }];
    assert_eq!(registration.mismatches(&wanted()), Vec::<String>::new());
}

#[test]
fn names_are_no_patterns() {
    let server = Wanted { server_name: "example.org".into(), puppet_prefix: "a.b+".into(), ..wanted() };
    let users = Registration::generate(&server, [String::new(), String::new()]).users;
    assert_eq!(users[0].regex, r"^@a\.b\+.+:example\.org$");
}
