//! `parlour backup`: a copy of the database and the sealing key, whether the bridge runs or not.

use std::{
    fs, io,
    io::Write as _,
    os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt},
    path::Path,
};

use crate::{
    cli,
    config::{Config, SealingSecret},
    failure::Failure,
    output, sealing_file,
};

/// # Errors
/// The folder is not empty, there is nothing to copy, or it cannot be written. Nothing is left behind then.
pub(crate) fn run(args: &cli::Backup) -> Result<(), Failure> {
    let config = Config::load(&args.config.config)?;
    let data = &config.storage.path.0;
    if !data.join("parlour.db").exists() {
        return Err(Failure::new(format!(
            "storage.path: there is no database in {}; is this the config that the bridge runs with?",
            data.display()
        )));
    }
    let secret = if args.without_key { None } else { Some(secret(&config)?) };
    let made = make_folder(&args.folder).map_err(|cause| cannot_write(&args.folder, &cause))?;
    let copied = copy(&config, secret.as_ref(), &args.folder);
    if copied.is_err() {
        tidy_up(&args.folder, made);
    }
    copied?;
    output::say(&told(&args.folder, secret.is_some()));
    Ok(())
}

fn secret(config: &Config) -> Result<SealingSecret, Failure> {
    if let Some(secret) = &config.storage.sealing_key {
        return Ok(secret.clone());
    }
    let path = sealing_file::path(&config.storage.path.0);
    sealing_file::read(&path)?.ok_or_else(|| {
        Failure::new(format!(
            "storage.sealing_key: there is no {}; put it back, or leave it out of the backup with --without-key",
            path.display()
        ))
    })
}

/// Whether it was made. For its owner only, also where it was there.
fn make_folder(folder: &Path) -> io::Result<bool> {
    let inside = match fs::read_dir(folder) {
        Ok(inside) => inside.count(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map(|()| true);
        }
        Err(error) => return Err(error),
    };
    if inside > 0 {
        return Err(io::Error::other("it is not empty; give a folder that is, or a new one"));
    }
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700)).map(|()| false)
}

/// The key first: it is quick, and a copy of the database is worth nothing without it.
fn copy(config: &Config, secret: Option<&SealingSecret>, folder: &Path) -> Result<(), Failure> {
    if let Some(secret) = secret {
        write_key(secret, folder).map_err(|cause| cannot_write(folder, &cause))?;
    }
    parlour_store::backup(&config.storage.path.0, &folder.join("parlour.db"))
        .map_err(|error| Failure::new(format!("backup: {error}")))
}

fn write_key(secret: &SealingSecret, folder: &Path) -> io::Result<()> {
    let path = sealing_file::path(folder);
    let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    writeln!(file, "{}", secret.reveal())?;
    file.sync_all()
}

fn cannot_write(folder: &Path, cause: &io::Error) -> Failure {
    Failure::new(format!("backup: cannot use {}: {cause}", folder.display()))
}

/// It was empty when we came.
fn tidy_up(folder: &Path, made: bool) {
    for name in [sealing_file::NAME, "parlour.db", "parlour.part", "parlour.part-journal"] {
        let _ = fs::remove_file(folder.join(name));
    }
    if made {
        let _ = fs::remove_dir(folder);
    }
}

fn told(folder: &Path, with_key: bool) -> String {
    let key = match with_key {
        true => "It holds the sealing key as well: whoever has this folder can read what agents can read.",
        false => {
            "Without the sealing key, which you need to keep elsewhere: this copy is of no use without it."
        }
    };
    format!(
        "Copied the database to {}, checked and readable for its owner only.\n{key}\n\
         Keep the config and the registration with it.\n\
         To put it back: stop the bridge, move everything out of storage.path, copy these files into it, start the bridge.\n",
        folder.display()
    )
}
