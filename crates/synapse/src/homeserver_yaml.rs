//! Synapse's two config files. Both are written as JSON, which is YAML too.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::{Map, Value, json};

use crate::secrets::{keep_secret, random_hex, signing_key, write_private};
use crate::{Config, Federation, certificate};

/// Limits that hold a rate for everything under the key. From Synapse's config documentation, "Ratelimiting".
const FLAT_LIMITS: [&str; 14] = [
    "rc_message",
    "rc_registration",
    "rc_registration_token_validity",
    "rc_admin_redaction",
    "rc_joins_per_room",
    "rc_key_requests",
    "rc_3pid_validation",
    "rc_third_party_invite",
    "rc_media_create",
    "rc_room_creation",
    "rc_reports",
    "rc_delayed_event_mgmt",
    "rc_user_directory",
    "rc_profile",
];

/// Limits with one rate for each of several scopes.
const SCOPED_LIMITS: [(&str, &[&str]); 4] = [
    ("rc_login", &["address", "account", "failed_attempts"]),
    ("rc_joins", &["local", "remote"]),
    ("rc_invites", &["per_room", "per_user", "per_issuer"]),
    ("rc_presence", &["per_user"]),
];

/// Certificate and key in one file.
const CERTIFICATE: &str = "tls.pem";

/// Writes `homeserver.yaml` and `log.yaml` into the data folder, mode 0600, and gives the first one's path. Keys
/// made for an earlier start are kept.
pub(crate) fn write(config: &Config, port: u16) -> Result<PathBuf> {
    let path = config.data.join("homeserver.yaml");
    keep_secret(&config.data.join("signing.key"), signing_key)?;
    if config.federation.is_some() {
        keep_secret(&config.data.join(CERTIFICATE), || certificate::make(&config.venv))?;
    }
    write_private(&config.data.join("log.yaml"), &log(&config.data).to_string())?;
    write_private(&path, &Value::Object(homeserver(config, port)?).to_string())?;
    Ok(path)
}

fn homeserver(config: &Config, port: u16) -> Result<Map<String, Value>> {
    let mut all = Map::new();
    let parts = [
        server(config, port),
        federation(config),
        storage(&config.data)?,
        people(),
        appservices(config)?,
        limits(config),
    ];
    for part in parts.into_iter().chain([Value::Object(config.extra.clone())]) {
        merge(&mut all, part);
    }
    Ok(all)
}

/// Puts the keys of `part` into `all`; objects are joined one level deep.
fn merge(all: &mut Map<String, Value>, part: Value) {
    let Value::Object(part) = part else { return };
    for (key, value) in part {
        match (all.get_mut(&key), value) {
            (Some(Value::Object(old)), Value::Object(new)) => old.extend(new),
            (_, value) => drop(all.insert(key, value)),
        }
    }
}

fn server(config: &Config, port: u16) -> Value {
    let http = json!({"port": port, "bind_addresses": ["127.0.0.1"], "type": "http", "tls": false,
        "x_forwarded": false, "resources": [{"names": ["client", "federation"], "compress": false}]});
    let metrics = config
        .metrics_port
        .map(|port| json!({"port": port, "bind_addresses": ["127.0.0.1"], "type": "metrics", "tls": false}));
    let others = config.federation.as_ref().map(others);
    json!({
        "server_name": config.server_name,
        "public_baseurl": format!("http://127.0.0.1:{port}/"),
        "listeners": std::iter::once(http).chain(metrics).chain(others).collect::<Vec<_>>(),
        "enable_metrics": config.metrics_port.is_some(),
        "report_stats": false,
        // Nothing leaves this machine.
        "federation_domain_whitelist": [],
        "trusted_key_servers": [],
        "suppress_key_server_warning": true,
    })
}

/// The listener for other homeservers.
fn others(federation: &Federation) -> Value {
    let listen = federation.listen;
    json!({"port": listen.port(), "bind_addresses": [listen.ip()], "type": "http", "tls": true,
        "resources": [{"names": ["federation"], "compress": false}]})
}

fn federation(config: &Config) -> Value {
    let Some(federation) = &config.federation else { return json!({}) };
    let certificate = config.data.join(CERTIFICATE);
    json!({
        "federation_domain_whitelist": federation.with,
        "tls_certificate_path": certificate,
        "tls_private_key_path": certificate,
        "federation_verify_certificates": false,
        // By default nothing on this machine is spoken to.
        "federation_ip_range_blacklist": [],
        // One that restarts is not shunned for ten minutes.
        "federation": {"max_long_retry_delay": "1s", "destination_min_retry_interval": "1s",
            "destination_max_retry_interval": "1s"},
    })
}

fn storage(data: &Path) -> Result<Value> {
    let secret = |name: &str| keep_secret(&data.join(name), || random_hex(24));
    Ok(json!({
        "database": {"name": "sqlite3", "args": {"database": data.join("homeserver.db")}},
        "media_store_path": data.join("media"),
        "signing_key_path": data.join("signing.key"),
        "log_config": data.join("log.yaml"),
        "macaroon_secret_key": secret("macaroon_secret")?,
        "form_secret": secret("form_secret")?,
    }))
}

fn people() -> Value {
    json!({
        "enable_registration": true,
        "enable_registration_without_verification": true,
        "allow_public_rooms_without_auth": true,
        "room_list_publication_rules": [{"action": "allow"}],
        "url_preview_enabled": false,
        "presence": {"enabled": true},
        // The least that bcrypt knows: a login in a test should not cost a third of a second.
        "bcrypt_rounds": 4,
    })
}

fn appservices(config: &Config) -> Result<Value> {
    let files: Vec<PathBuf> = config
        .registrations
        .iter()
        .map(|file| file.canonicalize().with_context(|| format!("no registration at {}", file.display())))
        .collect::<Result<_>>()?;
    Ok(json!({
        "app_service_config_files": files,
        "experimental_features": {
            "msc2409_to_device_messages_enabled": config.e2ee_flags,
            "msc3202_transaction_extensions": config.e2ee_flags,
        },
    }))
}

fn limits(config: &Config) -> Value {
    if config.rate_limits {
        return json!({});
    }
    let far = json!({"per_second": 100_000, "burst_count": 100_000});
    let scoped = SCOPED_LIMITS.iter().map(|(key, scopes)| {
        (*key, scopes.iter().map(|scope| ((*scope).to_owned(), far.clone())).collect::<Value>())
    });
    let flat = FLAT_LIMITS.iter().map(|key| (*key, far.clone()));
    let others =
        json!({"window_size": 1, "sleep_limit": 100_000, "reject_limit": 100_000, "concurrent": 100});
    flat.chain(scoped)
        .chain([("rc_federation", others)])
        .map(|(key, value)| (key.to_owned(), value))
        .collect()
}

fn log(data: &Path) -> Value {
    json!({
        "version": 1,
        "disable_existing_loggers": false,
        "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s %(request)s %(message)s"}},
        "handlers": {"file": {"class": "logging.FileHandler", "formatter": "line",
            "filename": data.join("homeserver.log")}},
        "root": {"level": "INFO", "handlers": ["file"]},
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(change: impl FnOnce(&mut Config)) -> Map<String, Value> {
        let folder = tempfile::tempdir().unwrap();
        let mut config = Config::new("venv", folder.path());
        change(&mut config);
        homeserver(&config, 8008).unwrap()
    }

    #[test]
    fn limits_are_off_unless_asked_for() {
        assert_eq!(written(|_| ())["rc_joins"]["local"]["burst_count"], 100_000);
        assert!(!written(|config| config.rate_limits = true).contains_key("rc_joins"));
    }

    #[test]
    fn further_keys_join_objects_and_replace_the_rest() {
        let yaml = written(|config| {
            merge(
                &mut config.extra,
                json!({"presence": {"include_offline_users_on_sync": true}, "bcrypt_rounds": 5}),
            );
        });
        assert_eq!(yaml["presence"], json!({"enabled": true, "include_offline_users_on_sync": true}));
        assert_eq!(yaml["bcrypt_rounds"], 5);
    }

    #[test]
    fn others_are_spoken_with_only_by_name() {
        assert_eq!(written(|_| ())["federation_domain_whitelist"], json!([]));
        let yaml = written(|config| {
            let (listen, with) = ("127.0.0.2:8448".parse().unwrap(), vec!["127.0.0.3:8448".to_owned()]);
            config.federation = Some(Federation { listen, with });
        });
        assert_eq!(yaml["federation_domain_whitelist"], json!(["127.0.0.3:8448"]));
        assert_eq!(yaml["listeners"][1]["bind_addresses"], json!(["127.0.0.2"]));
    }

    #[test]
    fn a_registration_that_is_not_there_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let mut config = Config::new("venv", folder.path());
        config.registrations.push(folder.path().join("absent.yaml"));
        let error = homeserver(&config, 8008).unwrap_err().to_string();
        assert!(error.contains("absent.yaml"), "{error}");
    }
}
