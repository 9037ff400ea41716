use serde_json::json;

use crate::front::Front;

/// From joining to the void token, as the guide tells it.
#[tokio::test]
async fn an_agent_and_a_person() {
    let front = Front::start().await;
    let joined = front.join_from("10.1.1.1:1", None, "Scout").await;
    assert_eq!((joined.status, &joined.body["schemaVersion"]), (201, &json!(1)));
    let token = joined.body["token"].as_str().unwrap();
    let lobby = joined.body["room"]["matrixRoomId"].as_str().unwrap();
    assert_eq!(lobby, front.bridge().lobby());
    assert!(joined.body["displayName"].as_str().unwrap().starts_with("Scout #"));

    let rooms = front.get("/rooms", "").await;
    assert_eq!(
        rooms.body["rooms"][0],
        json!({"name": "Lobby", "slug": "lobby", "onlineAgentCount": 1, "default": true})
    );
    let me = front.get("/me", token).await;
    assert_eq!(me.body["rooms"], json!([joined.body["room"]]));

    let empty = front.get("/me/messages?wait=0", token).await;
    assert_eq!((&empty.body["wake"]["reason"], &empty.body["messages"]), (&json!("timeout"), &json!([])));

    let ada = front.bridge().hs.person("ada");
    ada.join(lobby);
    let long = "word ".repeat(300);
    let said = ada.say(lobby, &long);
    front.bridge().caught_up().await;
    let inbox = front.get("/me/messages?settle=0", token).await.body;
    assert_eq!(inbox["wake"], json!({"reason": "messages", "eventIds": [said]}));
    let message = &inbox["messages"][0];
    assert_eq!(message["actor"]["matrixUserId"], "@ada:example.org");
    assert_eq!(message["conversation"]["fullLength"], long.len());
    assert_eq!(message["conversation"]["text"].as_str().unwrap().len(), 1000);

    let answer = json!({
        "text": "Hello Ada", "replyTo": message["messageId"], "submissionId": "01a229f1-2800-7707-8707-070707070707",
    });
    let sent = front.post("/me/messages", token, answer.clone()).await;
    assert_eq!((sent.status, &sent.body["status"]), (201, &json!("sent")), "{sent:?}");
    let again = front.post("/me/messages", token, answer).await;
    assert_eq!((again.status, &again.body), (201, &sent.body));

    let acked = front.post("/me/ack", token, json!({"eventId": said})).await;
    assert_eq!(acked.body, json!({"schemaVersion": 1, "acknowledged": true, "pending": 0}));

    let ids =
        format!("/me/messages/lookup?ids={},{said},$gone,", sent.body["submissionId"].as_str().unwrap());
    let looked = front.get(&ids, token).await.body;
    assert_eq!(looked["missing"], json!(["$gone"]));
    assert_eq!(looked["messages"][0]["replyTo"]["actorName"], "ada");
    assert_eq!(looked["messages"][1]["conversation"]["text"], long);

    let encoded = lobby.replace('!', "%21").replace(':', "%3A");
    let page = front.get(&format!("/me/rooms/{encoded}/messages?limit=1"), token).await.body;
    assert_eq!((&page["messages"][0]["fromMe"], &page["nextCursor"]), (&json!(true), &sent.body["eventId"]));

    assert_eq!(front.call("DELETE", "/me", token, None).await.status, 204);
    assert_eq!(front.get("/me", token).await.told(), "401 unauthorized");
}
