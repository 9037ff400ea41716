//! The API's description (`/openapi.json`) and a page that shows it (`/docs`): Swagger UI, embedded, so that nothing is fetched
//! from anywhere else. See `reference/README.md`.

use std::sync::{Arc, OnceLock};

use axum::{Router, response::IntoResponse, routing::get};
use bytes::Bytes;
use http::{HeaderName, header};

use crate::{ApiSettings, extract::Shared, openapi};

/// Of Swagger UI. It is part of the addresses of the page's files, which may therefore be kept for ever.
const VERSION: &str = "5.35.0";

const PAGE: &str = include_str!("../reference/index.html");

const HTML: &str = "text/html; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";

const FOR_MINUTES: &str = "public, max-age=300";
const FOR_EVER: &str = "public, max-age=31536000, immutable";

/// A file of the page: name, type, whether it is kept compressed, bytes. All browsers take gzip; other clients have no use for these.
const FILES: [(&str, &str, bool, &[u8]); 4] = [
    ("swagger-ui-bundle.js", SCRIPT, true, include_bytes!("../reference/swagger-ui-bundle.js.gz")),
    ("swagger-ui.css", STYLE, true, include_bytes!("../reference/swagger-ui.css.gz")),
    ("start.js", SCRIPT, false, include_bytes!("../reference/start.js")),
    ("page.css", STYLE, false, include_bytes!("../reference/page.css")),
];

pub(crate) fn routes(settings: &ApiSettings) -> Router<Shared> {
    let base = path_of(&settings.public_url);
    let assets = format!("/docs/{VERSION}");
    let page = PAGE.replace("{{assets}}", &format!("{base}{assets}")).replace("{{base}}", base);
    let routes = [("/docs", with_policy(settings, page)), ("/openapi.json", document(settings.clone()))];
    let router = routes.into_iter().fold(Router::new(), |router, (path, answers)| {
        router.route(&format!("{path}/"), answers.clone()).route(path, answers)
    });
    FILES.into_iter().fold(router, |router, (name, kind, packed, bytes)| {
        router.route(&format!("{assets}/{name}"), file(kind, packed, bytes))
    })
}

type Answers = axum::routing::MethodRouter<Shared>;

/// Made when it is first asked for.
fn document(settings: ApiSettings) -> Answers {
    let made: Arc<OnceLock<Bytes>> = Arc::default();
    get(move || {
        let head = [(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, FOR_MINUTES)];
        let bytes =
            made.get_or_init(|| serde_json::to_vec(&openapi::document(&settings)).unwrap_or_default().into());
        std::future::ready((head, bytes.clone()))
    })
}

fn file(kind: &'static str, packed: bool, bytes: &'static [u8]) -> Answers {
    let head = [(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, FOR_EVER), NOSNIFF];
    get(move || {
        let plain = (head, bytes);
        std::future::ready(match packed {
            true => ([(header::CONTENT_ENCODING, "gzip")], plain).into_response(),
            false => plain.into_response(),
        })
    })
}

const NOSNIFF: (HeaderName, &str) = (header::X_CONTENT_TYPE_OPTIONS, "nosniff");

/// The page may load its own files and call this server, by the address it was opened at or by the public one.
fn with_policy(settings: &ApiSettings, page: String) -> Answers {
    let policy = format!(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self' {}; base-uri 'none'; \
         form-action 'none'; frame-ancestors 'none'",
        origin_of(&settings.public_url)
    );
    let page = Bytes::from(page);
    get(move || {
        let head = [
            (header::CONTENT_TYPE, HTML),
            (header::CACHE_CONTROL, FOR_MINUTES),
            (header::REFERRER_POLICY, "no-referrer"),
            NOSNIFF,
        ];
        std::future::ready((head, [(header::CONTENT_SECURITY_POLICY, policy.clone())], page.clone()))
    })
}

/// `https://agents.example.org/below` is in two parts: scheme with authority, and path.
fn split(url: &str) -> (&str, &str) {
    let url = url.trim_end_matches('/');
    let authority = url.find("://").map_or(0, |at| at + 3);
    let path = url[authority..].find('/').map_or(url.len(), |at| authority + at);
    url.split_at(path)
}

fn origin_of(url: &str) -> &str {
    split(url).0
}

fn path_of(url: &str) -> &str {
    split(url).1
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::Value;

    use super::*;
    use crate::{
        double::App,
        tests::support::{response, root, settings},
    };

    async fn got(path: &str) -> (http::HeaderMap, Vec<u8>) {
        let response = response(App::switched_off(), root(path)).await;
        assert_eq!(response.status(), 200, "{path}");
        let (parts, body) = response.into_parts();
        (parts.headers, axum::body::to_bytes(body, usize::MAX).await.unwrap().to_vec())
    }

    /// What the page names is there, with the type that `nosniff` asks for.
    #[tokio::test]
    async fn the_page_is_whole_and_names_no_other_server() {
        let (headers, page) = got("/docs").await;
        let page = String::from_utf8(page).unwrap();
        assert!(!page.contains("{{") && !page.contains("http"), "{page}");
        let policy = headers[header::CONTENT_SECURITY_POLICY].to_str().unwrap();
        assert!(policy.contains("connect-src 'self' https://agents.example.org;"), "{policy}");
        assert!(!policy.contains("unsafe"), "{policy}");
        for (attribute, kind) in [("src=\"", SCRIPT), ("stylesheet\" href=\"", STYLE)] {
            let named: Vec<&str> =
                page.split(attribute).skip(1).filter_map(|rest| rest.split('"').next()).collect();
            assert_eq!(named.len(), 2, "{page}");
            for path in named {
                let (headers, bytes) = got(path).await;
                assert_eq!(headers[header::CONTENT_TYPE], kind, "{path}");
                let packed = headers.get(header::CONTENT_ENCODING).is_some();
                assert_eq!(packed, bytes.starts_with(&[0x1f, 0x8b]), "{path}");
            }
        }
    }

    #[tokio::test]
    async fn the_document_is_served_when_all_else_is_switched_off() {
        for path in ["/openapi.json", "/openapi.json/"] {
            let (headers, body) = got(path).await;
            assert_eq!(headers[header::CACHE_CONTROL], FOR_MINUTES);
            let document: Value = serde_json::from_slice(&body).unwrap();
            assert_eq!(document, openapi::document(&settings()));
            assert_eq!(document["servers"][0]["url"], "https://agents.example.org");
        }
    }

    #[rstest]
    #[case("https://a.example", "https://a.example", "")]
    #[case("https://a.example/", "https://a.example", "")]
    #[case("http://[::1]:80/below/it/", "http://[::1]:80", "/below/it")]
    fn addresses(#[case] url: &str, #[case] origin: &str, #[case] path: &str) {
        assert_eq!(split(url), (origin, path));
    }
}
