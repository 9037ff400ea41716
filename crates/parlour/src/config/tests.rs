use rstest::rstest;

use super::*;

const LEAST: &str = "[homeserver]\nurl = 'http://127.0.0.1:8008'\nserver_name = 'example.org'\n";

fn parse(more: &str) -> Result<Config, Problems> {
    Config::parse(&format!("{more}\n{LEAST}"), [])
}

fn problems(more: &str) -> Problems {
    parse(more).unwrap_err()
}

#[test]
fn what_is_left_out_has_a_default() {
    let config = parse("").unwrap();
    assert_eq!(config.server.listen.to_string(), "127.0.0.1:9880");
    assert_eq!(
        (config.public_url(), config.appservice_url()),
        ("http://127.0.0.1:9880".to_owned(), "http://127.0.0.1:9880".to_owned())
    );
    assert_eq!(config.limits, Limits::default());
    assert_eq!(config.metrics.listen, None);
    assert!(config.lobbies.is_empty() && config.agents.enabled);
    assert_eq!((config.agents.idle_minutes.0, config.agents.disable_after_days.0), (60, 30));
}

#[test]
fn the_example_is_a_good_config() {
    let config = Config::parse(&example(), []).unwrap();
    assert_eq!(
        (config.lobbies[0].name(), config.lobbies[0].alias(), config.lobbies[0].default),
        ("Lobby", "lobby", true)
    );
    assert_eq!(config.limits, Limits::default());
}

#[rstest]
#[case("[server]\nlisten = '0.0.0.0:1234'", "http://127.0.0.1:1234")]
#[case("[server]\nlisten = '[::]:1234'", "http://[::1]:1234")]
#[case("[server]\nlisten = '10.1.2.3:1234'", "http://10.1.2.3:1234")]
#[case("[server]\nappservice_url = 'http://bridge:99/'", "http://bridge:99")]
fn the_homeservers_address_for_us(#[case] more: &str, #[case] url: &str) {
    assert_eq!(parse(more).unwrap().appservice_url(), url);
}

#[rstest]
#[case::unknown(
    "[server]\nlistn = '127.0.0.1:1'",
    "server.listn: there is no such key; did you mean server.listen?"
)]
#[case::unknown_section(
    "[sever]\nlisten = '127.0.0.1:1'",
    "sever: there is no such section; did you mean server?"
)]
#[case::unknown_limit(
    "[limits]\nlobby_agent = 1",
    "limits.lobby_agent: there is no such key; did you mean limits.lobby_agents?"
)]
#[case::unknown_in_lobby(
    "[[lobby]]\nslug = 'a'\nallias = 'b'",
    "lobby.allias (entry 1): there is no such key; did you mean lobby.alias?"
)]
#[case::type_text("[server]\nlisten = 9880", "server.listen: has to be text (in quotes), but is a number")]
#[case::type_flag(
    "[agents]\nenabled = 'yes'",
    "agents.enabled: has to be true or false (without quotes), but is text"
)]
#[case::type_number(
    "[agents]\nmax_hops = 1.5",
    "agents.max_hops: has to be a whole number (without quotes), but is a number"
)]
#[case::type_list(
    "[server]\ntrusted_proxies = '::1'",
    "server.trusted_proxies: has to be a list ([\"...\"]), but is text"
)]
#[case::type_section("storage = 'data'", "storage: has to be a section ([storage]), but is text")]
#[case::one_bracket("[lobby]\nslug = 'a'", "lobby: write [[lobby]] with two brackets, once for each lobby")]
#[case::listen(
    "[server]\nlisten = 'localhost:9880'",
    "server.listen: \"localhost:9880\" is no address to listen on; write"
)]
#[case::port_0(
    "[server]\nlisten = '127.0.0.1:0'",
    "server.listen: port 0 would be another one at each start"
)]
#[case::url(
    "[server]\npublic_url = 'agents.example.org'",
    "server.public_url: does not begin with http:// or https://"
)]
#[case::url_query(
    "[server]\npublic_url = 'https://a.example/?x=1'",
    "server.public_url: holds a query or fragment"
)]
#[case::url_junk("[server]\nappservice_url = 'http://a b'", "server.appservice_url: is no address; write")]
#[case::url_empty("[server]\nappservice_url = ' '", "server.appservice_url: must not be empty")]
#[case::proxy(
    "[server]\ntrusted_proxies = ['10.0.0.0/8', 'proxy']",
    "server.trusted_proxies: entry 2: \"proxy\" is neither"
)]
#[case::proxy_bits(
    "[server]\ntrusted_proxies = ['10.0.0.0/33']",
    "server.trusted_proxies: entry 1: \"10.0.0.0/33\" is neither"
)]
#[case::slug_missing(
    "[[lobby]]\nname = 'A'",
    "lobby.slug (entry 1): is missing; set it, for instance `slug = \"lobby\"`"
)]
#[case::slug_empty("[[lobby]]\nslug = ''", "lobby.slug (entry 1): must not be empty")]
#[case::slug_number(
    "[[lobby]]\nslug = '0199aaaa-bbbb-7ccc-8ddd-eeeeeeeeeeee'",
    "lobby.slug (entry 1): reads like a room's number"
)]
#[case::slug_twice(
    "[[lobby]]\nslug = 'a'\n[[lobby]]\nslug = 'a'\nalias = 'b'",
    "lobby.slug (entry 2): \"a\" is used by an earlier lobby"
)]
#[case::alias_twice(
    "[[lobby]]\nslug = 'a'\n[[lobby]]\nslug = 'b'\nalias = 'a'",
    "lobby.alias (entry 2): \"a\" is used by an earlier lobby"
)]
#[case::alias_full(
    "[[lobby]]\nslug = 'a'\nalias = '#a:example.org'",
    "lobby.alias (entry 1): \"#a:example.org\" is more than a localpart"
)]
#[case::alias_blank("[[lobby]]\nslug = 'a'\nalias = 'a b'", "lobby.alias (entry 1): \"a b\" holds a blank")]
#[case::name_control("[[lobby]]\nslug = 'a'\nname = \"a\\u0007\"", "lobby.name (entry 1): Character 2")]
#[case::two_defaults(
    "[[lobby]]\nslug = 'a'\ndefault = true\n[[lobby]]\nslug = 'b'\ndefault = true",
    "lobby.default: is true for a, b; keep it for one"
)]
#[case::bot_full(
    "[people]\nbot = '@parlour:example.org'",
    "people.bot: \"@parlour:example.org\" is more than a localpart"
)]
#[case::bot_letters("[people]\nbot = 'Parlour'", "people.bot: \"Parlour\": Matrix user names are made of")]
#[case::prefix_short("[people]\npuppet_prefix = 'a_'", "people.puppet_prefix: \"a_\" is too short")]
#[case::prefix_bot(
    "[people]\nbot = 'agent_zero'",
    "people.puppet_prefix: the bot (agent_zero) begins with \"agent_\" too"
)]
#[case::prefix_sender(
    "[people]\npuppet_prefix = '_parlour_'",
    "people.puppet_prefix: the appservice's own user (_parlour_parlour)"
)]
#[case::invites("[people]\ninvites = 'all'", "people.invites: \"all\" is not one of local, anyone, nobody")]
#[case::trust("[encryption]\ntrust = 'none'", "encryption.trust: \"none\" is not one of all, cross-signed")]
#[case::ban_list(
    "[moderation]\nban_lists = ['bans']",
    "moderation.ban_lists: entry 1: \"bans\" is neither a room id"
)]
#[case::ban_list_without_a_name(
    "[moderation]\nban_lists = ['#:x']",
    "moderation.ban_lists: entry 1: \"#:x\" is neither"
)]
#[case::ban_list_with_a_blank(
    "[moderation]\nban_lists = ['! b']",
    "moderation.ban_lists: entry 1: \"! b\" is neither"
)]
#[case::ban_list_of_nothing(
    "[moderation]\nban_lists = ['!']",
    "moderation.ban_lists: entry 1: \"!\" is neither"
)]
#[case::ban_list_of_no_server(
    "[moderation]\nban_lists = ['!a:']",
    "moderation.ban_lists: entry 1: \"!a:\" is neither"
)]
#[case::zero("[agents]\nidle_minutes = 0", "agents.idle_minutes: 0 makes no sense here")]
#[case::zero_limit("[limits]\nlobby_agents = 0", "limits.lobby_agents: 0 lets no agent in.")]
#[case::negative(
    "[limits]\nopen_rooms = -1",
    "limits.open_rooms: -1 is out of range; write a number from 0 to"
)]
#[case::huge("[limits]\nopen_rooms = 4294967296", "limits.open_rooms: 4294967296 is out of range")]
#[case::same_port("[metrics]\nlisten = '127.0.0.1:9880'", "metrics.listen: is the same as server.listen")]
fn mistakes_are_named(#[case] more: &str, #[case] line: &str) {
    let problems = problems(more);
    assert!(problems.len() == 1 && problems[0].starts_with(line), "{problems:#?}");
}

#[rstest]
#[case::no_lobby("")]
#[case::zero_quota("[limits]\nknocks_per_source_hour = 0")]
#[case::single_address("[server]\ntrusted_proxies = ['127.0.0.1', '2001:db8::/32']")]
#[case::names_by_case("[[lobby]]\nslug = 'Lobby'\n[[lobby]]\nslug = 'lobby'")]
#[case::url_with_path("[server]\npublic_url = 'https://example.org/agents/'")]
#[case::later_keys(
    "[people]\ninvites = 'nobody'\ninvitable = 'known'\npresence = false\n[encryption]\ntrust = 'cross-signed'"
)]
#[case::ban_lists("[moderation]\nban_lists = ['#bans:example.org', '!room:example.org']")]
fn what_is_fine(#[case] more: &str) {
    assert_eq!(parse(more).err(), None);
}

#[test]
fn all_problems_are_told_at_once() {
    let text = "[homeserver]\nserver_name = 'a b'\n[server]\nlisten = 1\nlistn = 2\n[[lobby]]\n[limits]\nlobby_agents = 0\n[x]\n";
    let problems = Config::parse(text, []).unwrap_err();
    let keys: Vec<&str> = problems.iter().filter_map(|p| p.split(':').next()).collect();
    assert_eq!(
        keys,
        [
            "homeserver.url",
            "homeserver.server_name",
            "server.listen",
            "server.listn",
            "lobby.slug (entry 1)",
            "x"
        ]
    );
}

#[test]
fn no_toml_names_the_line_and_nothing_of_it() {
    let problems = Config::parse("[homeserver]\nurl = http://user:sesame@host\n", []).unwrap_err();
    assert!(problems.len() == 1 && problems[0].starts_with("line 2 is no TOML: "), "{problems:?}");
    assert!(!problems[0].contains("sesame"));
}

#[rstest]
#[case("http://user:sesame@127.0.0.1")]
#[case("sesame")]
#[case("http://127.0.0.1/?access_token=sesame")]
fn what_may_be_a_password_is_not_repeated(#[case] url: &str) {
    let problems = Config::parse(&format!("[homeserver]\nurl = '{url}'\nserver_name = 'a'"), []).unwrap_err();
    assert!(problems.len() == 1 && problems[0].starts_with("homeserver.url: "), "{problems:?}");
    assert!(!problems[0].contains("sesame"), "{problems:?}");
}

#[test]
fn the_environment_is_enough_and_named_in_errors() {
    let variables = |listen: &str| {
        [
            ("PARLOUR__HOMESERVER__URL", "http://127.0.0.1:8008"),
            ("PARLOUR__HOMESERVER__SERVER_NAME", "example.org"),
            ("PARLOUR__SERVER__LISTEN", listen),
            ("PARLOUR__LOBBY", "[{slug = 'a'}, {slug = 'b', default = true}]"),
        ]
        .map(|(name, text)| (OsString::from(name), OsString::from(text)))
    };
    let config = Config::parse("", variables("127.0.0.1:77")).unwrap();
    assert_eq!((config.server.listen.port(), config.lobbies.len()), (77, 2));
    let problems = Config::parse("", variables("77")).unwrap_err();
    assert!(
        problems[0].starts_with("server.listen (from PARLOUR__SERVER__LISTEN): \"77\" is no address"),
        "{problems:?}"
    );
}

#[test]
fn the_first_lobby_is_the_default_where_none_says_so() {
    let registration =
        parlour_matrix::Registration::generate(&parse("").unwrap().wanted(), ["a".into(), "b".into()]);
    let defaults = |more: &str| -> Vec<bool> {
        let settings = parse(more).unwrap().settings(&registration).unwrap();
        settings.lobbies.iter().map(|lobby| lobby.default).collect()
    };
    assert_eq!(defaults("[[lobby]]\nslug = 'a'\n[[lobby]]\nslug = 'b'"), [true, false]);
    assert_eq!(defaults("[[lobby]]\nslug = 'a'\n[[lobby]]\nslug = 'b'\ndefault = true"), [false, true]);
}

#[test]
fn settings_carry_what_the_config_says() {
    let more = "[people]\nbot = 'par.lour'\npuppet_prefix = 'ai-'\n[agents]\nenabled = false\nidle_minutes = 2\n\
                disable_after_days = 3\n[server]\npublic_url = 'https://a.example/'";
    let config = parse(more).unwrap();
    let registration = parlour_matrix::Registration::generate(&config.wanted(), ["a".into(), "b".into()]);
    assert!(registration.mismatches(&config.wanted()).is_empty());
    let settings = config.settings(&registration).unwrap();
    assert_eq!((settings.bridge_id.as_str(), settings.appservice_id.as_str()), ("par-lour", "par-lour"));
    assert_eq!((settings.bot.as_str(), settings.puppet_prefix.as_str()), ("@par.lour:example.org", "ai-"));
    assert_eq!(settings.public_url, "https://a.example");
    let agents = settings.agents;
    assert_eq!((agents.enabled, agents.idle_ms, agents.disable_after_ms), (false, 120_000, 259_200_000));
}

/// No value is the default, and no two numbers are the same: a swap of two would show.
#[test]
fn settings_of_people_encryption_and_limits_come_from_their_own_keys() {
    let keys = || LimitKeys::SECTION.keys.iter().map(|key| key.name).zip(101..);
    let numbers: Vec<String> = keys().map(|(key, n)| format!("{key} = {n}")).collect();
    let more = format!(
        "[people]\ninvites = 'anyone'\ninvitable = 'known'\npresence = false\n[agents]\nmax_hops = 3\n\
         [encryption]\ntrust = 'cross-signed'\n[moderation]\nban_lists = ['#b:example.org', '!b']\n[limits]\n{}",
        numbers.join("\n")
    );
    let config = parse(&more).unwrap();
    let registration = parlour_matrix::Registration::generate(&config.wanted(), ["a".into(), "b".into()]);
    let settings = config.settings(&registration).unwrap();
    assert_eq!(settings.people.invites, parlour_domain::people::Invites::Anyone);
    assert_eq!(settings.people.invitable, parlour_domain::people::Invitable::Known);
    assert_eq!((settings.agents.max_hops, settings.trust), (3, parlour_matrix::crypto::Trust::CrossSigned));
    assert_eq!(settings.ban_lists, ["#b:example.org", "!b"]);
    let limits = serde_json::to_value(&settings.limits).unwrap();
    for (key, n) in keys() {
        assert_eq!(limits[key], n, "{key}");
    }
    assert_eq!(limits.as_object().unwrap().len(), keys().count());
}

#[rstest]
#[case::presence("presence")]
#[case::receipts("receipts")]
#[case::typing("typing")]
#[case::profiles("profiles")]
fn each_manner_is_switched_off_by_its_own_key(#[case] off: &str) {
    let config = parse(&format!("[people]\n{off} = false")).unwrap();
    let registration = parlour_matrix::Registration::generate(&config.wanted(), ["a".into(), "b".into()]);
    let shown = config.settings(&registration).unwrap().people.shown;
    let all = [
        ("presence", shown.presence),
        ("receipts", shown.receipts),
        ("typing", shown.typing),
        ("profiles", shown.profiles),
    ];
    for (key, on) in all {
        assert_eq!(on, key != off, "{key}");
    }
}

#[test]
fn paths_begin_at_the_configs_folder() {
    let mut config = parse("[storage]\npath = '/var/lib/parlour'").unwrap();
    config.resolve(Path::new("/etc/parlour"));
    assert_eq!(config.homeserver.registration.0, Path::new("/etc/parlour/registration.yaml"));
    assert_eq!(config.storage.path.0, Path::new("/var/lib/parlour"));
}
