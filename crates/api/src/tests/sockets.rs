//! Over real sockets: what a router alone cannot show.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use parlour_app::runtime::Tasks;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    time::timeout,
};

use super::support::{TOKEN, router};
use crate::{double::App, rest::PREFIX};

const SOON: Duration = Duration::from_secs(10);

struct Server {
    address: SocketAddr,
    tasks: Tasks,
}

impl Server {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (address, tasks) = (listener.local_addr().unwrap(), Tasks::default());
        tasks.spawn(crate::serve(listener, router(&Arc::new(App::open())), tasks.clone()));
        Self { address, tasks }
    }

    async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }
}

fn head(length: usize) -> String {
    format!(
        "POST {PREFIX}/me/ack HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {TOKEN}\r\n\
         Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
    )
}

/// One answer: its head and as many bytes as it announces.
async fn answer(stream: &mut TcpStream) -> String {
    let mut read = Vec::new();
    while !read.ends_with(b"\r\n\r\n") {
        read.push(timeout(SOON, stream.read_u8()).await.unwrap().unwrap());
    }
    let head = String::from_utf8(read).unwrap();
    let length =
        head.lines().find_map(|l| l.strip_prefix("content-length: ")).map_or(0, |l| l.parse().unwrap());
    let mut body = vec![0; length];
    timeout(SOON, stream.read_exact(&mut body)).await.unwrap().unwrap();
    head + std::str::from_utf8(&body).unwrap()
}

async fn closed(stream: &mut TcpStream) -> bool {
    matches!(timeout(SOON, stream.read(&mut [0; 64])).await, Ok(Ok(0) | Err(_)))
}

const BODY: &str = r#"{"eventId":"$e"}"#;

async fn works(stream: &mut TcpStream) {
    stream.write_all(format!("{}{BODY}", head(BODY.len())).as_bytes()).await.unwrap();
    assert!(answer(stream).await.starts_with("HTTP/1.1 200"));
}

#[tokio::test]
async fn who_sends_too_much_reads_why_before_the_connection_ends() {
    let server = Server::start().await;
    let mut stream = server.connect().await;
    let body = vec![b' '; 500_000];
    stream.write_all(head(body.len()).as_bytes()).await.unwrap();
    stream.write_all(&body).await.unwrap();
    let told = answer(&mut stream).await;
    assert!(told.starts_with("HTTP/1.1 400") && told.contains("too large"), "{told}");
    assert!(told.contains("connection: close"), "{told}");
    assert!(closed(&mut stream).await);
}

#[tokio::test]
async fn a_connection_goes_on_after_a_bad_token_with_a_body() {
    let server = Server::start().await;
    let mut stream = server.connect().await;
    let request = format!("{}{}", head(40_000).replace(TOKEN, "void"), " ".repeat(40_000));
    stream.write_all(request.as_bytes()).await.unwrap();
    assert!(answer(&mut stream).await.starts_with("HTTP/1.1 401"));
    works(&mut stream).await;
}

#[tokio::test]
async fn who_asks_first_is_refused_before_sending() {
    let server = Server::start().await;
    let mut stream = server.connect().await;
    let head = head(60_000).replace("Host: x", "Host: x\r\nExpect: 100-continue");
    stream.write_all(head.as_bytes()).await.unwrap();
    let told = answer(&mut stream).await;
    assert!(told.starts_with("HTTP/1.1 400") && told.contains("connection: close"), "{told}");
    assert!(closed(&mut stream).await);
}

#[tokio::test]
async fn an_endless_body_ends_the_connection() {
    let server = Server::start().await;
    let (mut read, mut write) = server.connect().await.into_split();
    let head = head(0).replace("Content-Length: 0", "Transfer-Encoding: chunked");
    write.write_all(head.as_bytes()).await.unwrap();
    let endless = async {
        let chunk = format!("10000\r\n{}\r\n", " ".repeat(0x10000));
        while write.write_all(chunk.as_bytes()).await.is_ok() {}
    };
    let drained = async { while !matches!(read.read(&mut [0; 4096]).await, Ok(0) | Err(_)) {} };
    timeout(SOON, async { tokio::join!(endless, drained) }).await.expect("the server hangs up");
}

#[tokio::test]
async fn requests_in_a_row_keep_their_order() {
    let server = Server::start().await;
    let mut stream = server.connect().await;
    let bad = format!("{}{}", head(2), "{}");
    let good = format!("{}{BODY}", head(BODY.len()));
    stream.write_all(format!("{bad}{good}{bad}").as_bytes()).await.unwrap();
    for status in ["400", "200", "400"] {
        assert!(answer(&mut stream).await.starts_with(&format!("HTTP/1.1 {status}")));
    }
}

/// hyper's own refusals, with the body of ours.
#[tokio::test]
async fn what_is_no_http_is_told_so_in_the_envelope() {
    let server = Server::start().await;
    let garbage = "GET\r\n\r\n".to_owned();
    let address = format!("GET /{} HTTP/1.1\r\nHost: x\r\n\r\n", "a".repeat(70_000));
    let fields = format!("GET / HTTP/1.1\r\nHost: x\r\n{}\r\n", "A: b\r\n".repeat(200));
    for request in [garbage, address, fields] {
        let mut stream = server.connect().await;
        stream.write_all(request.as_bytes()).await.unwrap();
        let told = answer(&mut stream).await;
        assert!(told.starts_with("HTTP/1.1 400 ") && told.contains("connection: close"), "{told}");
        let body: serde_json::Value = serde_json::from_str(told.split_once("\r\n\r\n").unwrap().1).unwrap();
        assert_eq!(body["code"], "network_agent.invalid_request");
        let id = format!("x-correlation-id: {}\r\n", body["correlationId"].as_str().unwrap());
        assert!(told.contains(&id), "{told}");
        assert!(closed(&mut stream).await);
    }
}

#[tokio::test]
async fn what_came_before_the_rubbish_is_answered_first() {
    let server = Server::start().await;
    let mut stream = server.connect().await;
    stream.write_all(format!("{}{BODY}\r\nGET\r\n\r\n", head(BODY.len())).as_bytes()).await.unwrap();
    assert!(answer(&mut stream).await.starts_with("HTTP/1.1 200"));
    let told = answer(&mut stream).await;
    assert!(told.starts_with("HTTP/1.1 400") && told.contains("network_agent.invalid_request"), "{told}");
}

#[tokio::test]
async fn shutdown_ends_idle_connections_and_takes_no_more() {
    let server = Server::start().await;
    let mut idle = server.connect().await;
    works(&mut idle).await;
    server.tasks.stop();
    timeout(SOON, server.tasks.ended()).await.expect("nothing keeps the server");
    assert!(closed(&mut idle).await);
    assert!(TcpStream::connect(server.address).await.is_err());
}

#[tokio::test]
async fn a_request_that_has_begun_is_answered_at_shutdown() {
    let server = Server::start().await;
    let mut stream = server.connect().await;
    let (first, rest) = BODY.split_at(4);
    let asking = head(BODY.len()).replace("Host: x", "Host: x\r\nExpect: 100-continue");
    stream.write_all(asking.as_bytes()).await.unwrap();
    assert!(answer(&mut stream).await.starts_with("HTTP/1.1 100"), "the handler reads the body");
    stream.write_all(first.as_bytes()).await.unwrap();
    server.tasks.stop();
    stream.write_all(rest.as_bytes()).await.unwrap();
    assert!(answer(&mut stream).await.starts_with("HTTP/1.1 200"));
    timeout(SOON, server.tasks.ended()).await.expect("the connection ends");
}

#[tokio::test(start_paused = true)]
async fn an_idle_connection_outlives_those_of_proxies_and_then_ends() {
    let server = Server::start().await;
    let began = tokio::time::Instant::now();
    let mut stream = server.connect().await;
    stream.write_all(b"GET /health HTTP/1.1\r\nHost").await.unwrap();
    let mut told = Vec::new();
    stream.read_to_end(&mut told).await.unwrap();
    assert!(began.elapsed() >= Duration::from_secs(75), "{:?}", began.elapsed());
    assert!(began.elapsed() < Duration::from_secs(90), "{:?}", began.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_request_that_never_ends_does_not_hold_up_the_shutdown() {
    let server = Server::start().await;
    let mut stream = server.connect().await;
    let head = head(BODY.len()).replace("Host: x", "Host: x\r\nExpect: 100-continue");
    stream.write_all(head.as_bytes()).await.unwrap();
    while stream.read_u8().await.unwrap() != b'\n' {}
    let began = tokio::time::Instant::now();
    server.tasks.stop();
    server.tasks.ended().await;
    assert!(began.elapsed() < Duration::from_secs(9), "{:?}", began.elapsed());
}
