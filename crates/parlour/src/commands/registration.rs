//! `parlour registration`: writes the file that the homeserver and the bridge share. Needs the config and nothing else.

use std::{
    fs::{self, File},
    io::{self, Write as _},
    path::{Path, PathBuf, absolute},
};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use parlour_app::runtime::{Chance, SystemChance};
use parlour_matrix::Registration;
use secrecy::ExposeSecret;

use crate::{cli, config::Config, failure::Failure, output};

/// Where the tokens of the new file are from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tokens {
    Fresh,
    Kept,
    /// There was a file, but nothing could be read from it.
    Lost,
}

pub(crate) fn run(args: &cli::Registration) -> Result<(), Failure> {
    let config = Config::load(&args.config.config)?;
    let given = args.output.as_ref().unwrap_or(&config.homeserver.registration.0);
    // Through a link to the file it stands for, so that the link stays.
    let path = fs::canonicalize(given).unwrap_or_else(|_| given.clone());
    let there = path.symlink_metadata().is_ok();
    if there && !args.force {
        return Err(already_there(&path));
    }
    let (tokens, origin) = tokens(&path, there && !args.new_tokens, &SystemChance);
    let yaml = Registration::generate(&config.wanted(), tokens).to_yaml();
    write(&path, &yaml, there).map_err(|cause| cannot_write(&path, &cause))?;
    output::say(&next_steps(&config, args, &path, origin));
    Ok(())
}

fn already_there(path: &Path) -> Failure {
    let path = path.display();
    Failure::new(format!(
        "{path} is there already and was left as it is; --force writes it anew for the config and keeps its tokens"
    ))
}

fn cannot_write(path: &Path, cause: &io::Error) -> Failure {
    match cause.kind() {
        io::ErrorKind::AlreadyExists => already_there(path),
        _ => Failure::new(format!(
            "cannot write {}: {cause}; make the folder writable, or give another place with --output",
            path.display()
        )),
    }
}

fn tokens(path: &Path, keep: bool, chance: &dyn Chance) -> ([String; 2], Tokens) {
    let fresh = || [token(chance), token(chance)];
    if !keep {
        return (fresh(), Tokens::Fresh);
    }
    match Registration::read(path) {
        Ok(old) => ([old.as_token, old.hs_token].map(|t| t.expose_secret().to_owned()), Tokens::Kept),
        Err(_) => (fresh(), Tokens::Lost),
    }
}

/// 256 random bits.
fn token(chance: &dyn Chance) -> String {
    URL_SAFE_NO_PAD.encode(chance.bytes::<32>())
}

/// The file is whole or not there at all, and never readable for others, not even for a moment.
fn write(path: &Path, text: &str, replace: bool) -> io::Result<()> {
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    make_folder(folder)?;
    // Temporary files are made with mode 0600.
    let mut file = tempfile::Builder::new().prefix(".registration-").tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    if replace {
        file.persist(path).map_err(|e| e.error)?;
    } else {
        file.persist_noclobber(path).map_err(|e| e.error)?;
    }
    File::open(folder)?.sync_all()
}

/// Something else under the folder's name must not read as if the registration were there already.
fn make_folder(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => io::ErrorKind::NotADirectory.into(),
        _ => error,
    })
}

fn next_steps(config: &Config, args: &cli::Registration, path: &Path, origin: Tokens) -> String {
    let full = absolute(path).unwrap_or_else(|_| path.to_owned());
    let (file, config_file) = (full.display(), args.config.config.display());
    let mut text = format!(
        "Wrote {file}, readable for its owner only.\n{}\n\
         Next:\n\
         1. Give it to the homeserver.\n   \
            Synapse: in homeserver.yaml, under app_service_config_files, add the line\n     - {file}\n   \
            let Synapse's user read the file; under experimental_features set to true what has keys of encrypted rooms\n   \
            brought at once: msc2409_to_device_messages_enabled and msc3202_transaction_extensions. Restart Synapse.\n   \
            Conduit, continuwuity, tuwunel: in the admin room send `@conduit:{server}: register-appservice` (Conduit)\n   \
            or `!admin appservices register`, with the file's text below it in a code block.\n\
         2. parlour check --config {config_file}\n\
         3. parlour serve --config {config_file}\n",
        told(origin),
        server = config.homeserver.server_name,
    );
    if let Some(elsewhere) = elsewhere(&config.homeserver.registration.0, &full) {
        let elsewhere = elsewhere.display();
        text +=
            &format!("The config names another file ({elsewhere}): set homeserver.registration to {file}.\n");
    }
    text
}

fn told(origin: Tokens) -> &'static str {
    match origin {
        Tokens::Fresh => "Its tokens are new: the homeserver has to read it before the bridge can start.",
        Tokens::Kept => "It has the tokens of the file that was there; --new-tokens would change them.",
        Tokens::Lost => {
            "The file that was there could not be read, so the tokens are new: the homeserver has to read it again."
        }
    }
}

/// The file that the config names, where that is another one.
fn elsewhere(named: &Path, written: &Path) -> Option<PathBuf> {
    let real = |path: &Path| fs::canonicalize(path).or_else(|_| absolute(path)).ok();
    let named = real(named)?;
    (Some(&named) != real(written).as_ref()).then_some(named)
}
