//! What requests are counted as.

use std::sync::Mutex;

use metrics::{Counter, Gauge, Histogram, Key, KeyName, Metadata, Recorder, SharedString, Unit};

use super::support::{get, post, response, root};
use crate::double::App;

/// Writes down the name and labels of each metric that is touched.
#[derive(Default)]
struct Touched(Mutex<Vec<String>>);

impl Touched {
    fn note(&self, key: &Key) {
        let labels: Vec<String> = key.labels().map(|l| format!("{}={}", l.key(), l.value())).collect();
        self.0.lock().unwrap().push(format!("{} {}", key.name(), labels.join(" ")));
    }
}

impl Recorder for Touched {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        self.note(key);
        Counter::noop()
    }

    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
        self.note(key);
        Gauge::noop()
    }

    fn register_histogram(&self, key: &Key, _: &Metadata<'_>) -> Histogram {
        self.note(key);
        Histogram::noop()
    }
}

#[test]
fn by_method_route_and_class_of_status() {
    let asks = [
        get("/me/"),
        get("/me/rooms/%21room%3Ax/messages?limit=5"),
        post("", "{"),
        root("/wp-login.php"),
        root("/health").by("BREW"),
    ];
    let (recorder, runtime) =
        (Touched::default(), tokio::runtime::Builder::new_current_thread().enable_time().build());
    let runtime = runtime.unwrap();
    for ask in asks {
        metrics::with_local_recorder(&recorder, || runtime.block_on(response(App::open(), ask)));
    }
    insta::assert_snapshot!(recorder.0.lock().unwrap().join("\n"));
}
