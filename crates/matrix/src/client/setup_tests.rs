//! Which addresses and tokens make a client.

use rstest::rstest;

use super::*;

#[rstest]
#[case("http://127.0.0.1:8008", Some("http://127.0.0.1:8008"))]
#[case("https://example.org/matrix/", Some("https://example.org/matrix"))]
#[case("example.org", None)]
#[case("ftp://example.org", None)]
#[case("http://u:p@example.org", None)]
#[case("http://example.org/?a=b", None)]
fn addresses(#[case] url: &str, #[case] base: Option<&str>) {
    let client = Client::new(url, "token".to_owned().into());
    assert_eq!(client.ok().map(|c| c.base.to_string()).as_deref(), base);
}

#[test]
fn tokens_stay_out_of_debug_output_and_errors() {
    let client = Client::new("http://127.0.0.1:1", "sesame".to_owned().into()).unwrap();
    assert!(!format!("{client:?}").contains("sesame"));
    let error = Client::new("http://127.0.0.1:1", "sesame\n".to_owned().into()).unwrap_err();
    assert!(!error.to_string().contains("sesame"));
}

#[rstest]
#[case("http://localhost:8008", true)]
#[case("http://[::1]:8008", true)]
#[case("http://127.0.0.2", true)]
#[case("http://example.org", false)]
fn loopback(#[case] url: &str, #[case] is: bool) {
    assert_eq!(is_loopback(&Url::parse(url).unwrap()), is);
}
