//! How puppets' devices are reached: what the bridge found when it was started last, since finding out takes a device.

use parlour_app::view::{DeviceWay, Probed};

use super::{Bench, Report};

const WHAT: &str = "devices";

pub(super) fn check(bench: &Bench, report: &mut Report) {
    let found = match parlour_store::peek_meta(&bench.config.storage.path.0, Probed::META) {
        Ok(found) => found.and_then(|json| Probed::parse(&json)),
        Err(error) => return report.note(WHAT, &format!("how they are reached is not known: {error}")),
    };
    match found {
        Some(probed) => tell(bench, probed.way, report),
        None => {
            report.note(WHAT, "how puppets' devices are reached is found out a moment after the first start")
        }
    }
}

fn tell(bench: &Bench, way: DeviceWay, report: &mut Report) {
    match way {
        DeviceWay::Pushed => {
            report.ok(WHAT, "pushed and masqueraded: the homeserver brings what is for puppets' devices");
        }
        DeviceWay::PushedInPart => {
            let text = "pushed in part and masqueraded: messages come, news of people's devices are fetched";
            report.ok(WHAT, &format!("{text}. {}", todo(bench)));
        }
        DeviceWay::Pulled => {
            let text = "pulled and masqueraded: what is for puppets' devices is fetched, which takes a little longer";
            report.ok(WHAT, &format!("{text}. {}", todo(bench)));
        }
        DeviceWay::OwnToken => {
            report.ok(WHAT, "own tokens: each puppet logs in and fetches what is for its device");
        }
        DeviceWay::None => report.missing(
            WHAT,
            "the homeserver lets puppets have no devices in any way, so they can neither read nor speak in encrypted \
             rooms; write the registration anew and restart the homeserver, or update it",
        ),
    }
}

/// What would make it push.
fn todo(bench: &Bench) -> String {
    let asked = bench.registration.receive_ephemeral && bench.registration.msc3202;
    if !asked {
        return "To have it pushed, write the registration anew and restart the homeserver".to_owned();
    }
    "To have it pushed by Synapse, set msc2409_to_device_messages_enabled and msc3202_transaction_extensions to true under \
     experimental_features in homeserver.yaml, and restart it"
        .to_owned()
}
