//! Contract section 5 as sentences. Times are seconds; the wait begins at 100 and may take 30, settle is 5.

use std::sync::Arc;

use rstest::rstest;

use super::*;
use crate::message::samples::{ADA, BOB, said};

const HERE: i64 = 1;
const THERE: i64 = 2;

fn user(id: &str) -> OwnedUserId {
    UserId::parse(id).unwrap()
}

/// A wait and everything that its decision depends on.
struct Scene {
    terms: Terms,
    entries: Vec<Entry>,
    typing: TypingBoard,
    look: bool,
    superseded: bool,
    admitted: bool,
    knocks: bool,
}

fn wait() -> Scene {
    let terms = Terms {
        wait_ms: 30_000,
        limit: 20,
        settle_ms: 5_000,
        digest_ms: None,
        watch: Watch::default(),
        mentions_only: false,
        room: None,
    };
    let (entries, typing) = (vec![], TypingBoard::default());
    Scene { terms, entries, typing, look: false, superseded: false, admitted: false, knocks: false }
}

impl Scene {
    fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    fn settle(self, s: i64) -> Self {
        self.with(|x| x.terms.settle_ms = s * 1_000)
    }

    fn limit(self, limit: usize) -> Self {
        self.with(|x| x.terms.limit = limit)
    }

    fn digest(self, s: i64) -> Self {
        self.with(|x| x.terms.digest_ms = Some(s * 1_000))
    }

    fn mentions_only(self) -> Self {
        self.with(|x| x.terms.mentions_only = true)
    }

    fn wait_for(self, who: &[&str]) -> Self {
        self.with(|x| x.terms.watch.wait_for = who.iter().map(|w| user(w)).collect())
    }

    fn look(self) -> Self {
        self.with(|x| x.look = true)
    }

    fn knock(self) -> Self {
        self.with(|x| x.knocks = true)
    }

    fn admitted(self) -> Self {
        self.with(|x| x.admitted = true)
    }

    fn superseded(self) -> Self {
        self.with(|x| x.superseded = true)
    }

    fn arrives(mut self, s: i64, room: i64, who: &str, wakes: bool, awaited: bool) -> Self {
        let mut message = said(s, who);
        message.room = RoomKey(room);
        let arrival = message.seq;
        self.entries.push(Entry { message: Arc::new(message), wakes, awaited, beyond: false, arrival });
        self
    }

    /// Something that wakes.
    fn wakes(self, s: i64, who: &str) -> Self {
        self.arrives(s, HERE, who, true, false)
    }

    /// Something that wakes nobody.
    fn chat(self, s: i64, who: &str) -> Self {
        self.arrives(s, HERE, who, false, false)
    }

    /// One of those waited for speaks.
    fn speaks(self, s: i64, who: &str) -> Self {
        self.arrives(s, HERE, who, false, true)
    }

    fn types(self, s: i64, room: i64, who: &str) -> Self {
        self.with(|x| _ = x.typing.update(RoomKey(room), &[user(who)], s * 1_000))
    }

    fn stops(self, s: i64, room: i64) -> Self {
        self.with(|x| _ = x.typing.update(RoomKey(room), &[], s * 1_000))
    }

    fn at(&self, s: i64) -> Step {
        let Self { look, superseded, admitted, knocks, ref typing, ref entries, .. } = *self;
        let (now_ms, began_ms) = (s * 1_000, 100_000);
        let state = State { now_ms, began_ms, entries, typing, look, superseded, admitted, knocks };
        step(&self.terms, &state)
    }
}

fn until(s: i64) -> Step {
    Step::Sleep { until_ms: s * 1_000 }
}

use Reason::{AllReplied, Digest, Knocks, Messages, Superseded, Timeout};

const fn gives(reason: Reason) -> Step {
    Step::Answer(reason)
}

fn check(scene: &Scene, steps: &[(i64, Step)]) {
    for &(s, expected) in steps {
        assert_eq!(scene.at(s), expected, "at {s}");
    }
}

#[rstest]
#[case::nothing_comes(wait(), &[(100, until(130)), (129, until(130)), (130, gives(Timeout)), (999, gives(Timeout))])]
#[case::what_wakes_nobody_does_not_end_it(wait().chat(99, ADA).chat(110, ADA), &[(111, until(130)), (130, gives(Timeout))])]
#[case::what_wakes_is_given_after_five_quiet_seconds(wait().wakes(110, ADA), &[(110, until(115)), (114, until(115)), (115, gives(Messages))])]
#[case::more_talk_in_the_room_begins_the_quiet_anew(wait().wakes(110, ADA).chat(113, BOB), &[(115, until(118)), (118, gives(Messages))])]
#[case::talk_from_before_the_waking_one_does_not(wait().chat(109, BOB).wakes(110, ADA), &[(114, until(115)), (115, gives(Messages))])]
#[case::talk_in_another_room_does_not(wait().wakes(110, ADA).arrives(113, THERE, BOB, false, false), &[(115, gives(Messages))])]
#[case::every_room_that_woke_has_to_be_quiet(
    wait().wakes(110, ADA).arrives(112, THERE, BOB, true, false).arrives(114, HERE, BOB, false, false),
    &[(115, until(119)), (118, until(119)), (119, gives(Messages))])]
#[case::settle_nought_gives_at_once(wait().settle(0).wakes(110, ADA).chat(110, BOB), &[(110, gives(Messages))])]
#[case::settle_nought_does_not_heed_typing(wait().settle(0).wakes(110, ADA).types(110, HERE, ADA), &[(110, gives(Messages))])]
#[case::settle_nought_still_sleeps_for_nothing(wait().settle(0).chat(110, ADA), &[(110, until(130))])]
#[case::the_deadline_cuts_the_settling_short(wait().wakes(127, ADA), &[(127, until(130)), (129, until(130)), (130, gives(Messages))])]
#[case::a_settle_as_long_as_the_wait_ends_with_it(wait().settle(30).wakes(101, ADA), &[(101, until(130)), (130, gives(Messages))])]
#[case::an_old_backlog_goes_at_once(wait().wakes(50, ADA), &[(100, gives(Messages))])]
#[case::a_backlog_as_old_as_settle_goes_at_once(wait().wakes(95, ADA), &[(100, gives(Messages))])]
#[case::a_younger_backlog_waits_for_the_rest_of_its_quiet(wait().wakes(96, ADA), &[(100, until(101)), (101, gives(Messages))])]
#[case::an_old_backlog_in_a_busy_room_waits_for_quiet(wait().wakes(90, ADA).chat(99, BOB), &[(100, until(104))])]
fn quiet(#[case] scene: Scene, #[case] steps: &[(i64, Step)]) {
    check(&scene, steps);
}

#[rstest]
#[case::as_many_as_fit(wait().limit(3).chat(108, BOB).chat(109, BOB).wakes(110, ADA), &[(110, gives(Messages))])]
#[case::one_less_settles(wait().limit(4).chat(108, BOB).chat(109, BOB).wakes(110, ADA), &[(110, until(115))])]
#[case::but_nothing_woke(wait().limit(2).chat(108, BOB).chat(109, BOB).chat(110, ADA), &[(110, until(130))])]
#[case::mentions_only_counts_what_it_gives(
    wait().limit(2).mentions_only().chat(108, BOB).chat(109, BOB).wakes(110, ADA), &[(110, until(115))])]
#[case::mentions_only_and_full(wait().limit(2).mentions_only().wakes(109, BOB).wakes(110, ADA), &[(110, gives(Messages))])]
#[case::not_all_have_spoken(wait().limit(2).wait_for(&[ADA, BOB]).speaks(109, ADA).speaks(110, ADA), &[(110, until(130))])]
fn limit_reached(#[case] scene: Scene, #[case] steps: &[(i64, Step)]) {
    check(&scene, steps);
}

/// The wait began at 100, so only something that woke before can reach the cap.
#[rstest]
#[case::thirty_seconds_after_the_first_waking_one(
    wait().wakes(90, ADA).wakes(97, ADA).chat(118, BOB), &[(118, until(120)), (119, until(120)), (120, gives(Messages))])]
#[case::the_cap_beats_typing(wait().wakes(90, ADA).types(119, HERE, ADA), &[(119, until(120)), (120, gives(Messages))])]
#[case::a_busy_room_does_not_hold_an_old_backlog(wait().wakes(60, ADA).chat(99, BOB), &[(100, gives(Messages))])]
#[case::talk_that_woke_nobody_does_not_start_it(wait().chat(80, BOB).wakes(108, ADA), &[(111, until(113)), (113, gives(Messages))])]
#[case::it_runs_from_the_moment_all_have_spoken(
    wait().wait_for(&[ADA, BOB]).speaks(80, ADA).speaks(99, BOB).chat(111, ADA), &[(111, until(116)), (116, gives(AllReplied))])]
#[case::that_all_have_spoken_does_not_start_it_anew(
    wait().wait_for(&[ADA]).wakes(90, BOB).speaks(111, ADA).chat(118, BOB), &[(118, until(120)), (120, gives(AllReplied))])]
fn cap(#[case] scene: Scene, #[case] steps: &[(i64, Step)]) {
    check(&scene, steps);
}

#[rstest]
#[case::holds(wait().wakes(105, ADA).types(106, HERE, ADA), &[(110, until(130)), (129, until(130))])]
#[case::began_before_the_message(wait().types(101, HERE, ADA).wakes(105, ADA), &[(110, until(130))])]
#[case::ended_so_the_quiet_begins_anew(wait().wakes(105, ADA).types(106, HERE, ADA).stops(112, HERE), &[(112, until(117)), (117, gives(Messages))])]
#[case::ended_before_the_message(wait().types(99, HERE, ADA).stops(101, HERE).wakes(105, ADA), &[(105, until(110)), (110, gives(Messages))])]
#[case::is_believed_for_thirty_seconds(wait().types(80, HERE, ADA).wakes(100, ADA), &[(105, until(115)), (112, until(115)), (115, gives(Messages))])]
#[case::by_somebody_else_does_not_hold(wait().wakes(105, ADA).types(106, HERE, BOB), &[(110, gives(Messages))])]
#[case::by_the_author_of_mere_chat_does_not_hold(wait().wakes(105, ADA).chat(106, BOB).types(107, HERE, BOB), &[(111, gives(Messages))])]
#[case::in_another_room_does_not_hold(wait().wakes(105, ADA).types(106, THERE, ADA), &[(110, gives(Messages))])]
#[case::with_nothing_waking_is_nothing(wait().chat(105, ADA).types(106, HERE, ADA), &[(110, until(130))])]
#[case::holds_an_older_backlog_too(wait().wakes(90, ADA).types(99, HERE, ADA), &[(100, until(120)), (120, gives(Messages))])]
#[case::by_any_of_two_who_woke_holds(wait().wakes(105, ADA).wakes(106, BOB).types(107, HERE, BOB), &[(112, until(130))])]
#[case::by_one_of_those_waited_for_holds(wait().wait_for(&[ADA]).speaks(105, ADA).types(106, HERE, ADA), &[(111, until(130))])]
#[case::gives_way_to_the_limit(wait().limit(1).wakes(105, ADA).types(106, HERE, ADA), &[(106, gives(Messages))])]
#[case::gives_way_to_the_deadline(wait().wakes(105, ADA).types(129, HERE, ADA), &[(130, gives(Messages))])]
fn typing(#[case] scene: Scene, #[case] steps: &[(i64, Step)]) {
    check(&scene, steps);
}

#[test]
fn speaking_ends_typing() {
    let mut scene = wait().types(103, HERE, ADA).wakes(105, ADA);
    scene.typing.spoke(RoomKey(HERE), &user(ADA), 105_000);
    check(&scene, &[(105, until(110)), (110, gives(Messages))]);
}

#[rstest]
#[case::all_have_spoken(wait().wait_for(&[ADA, BOB]).speaks(105, ADA).speaks(110, BOB), &[(110, until(115)), (115, gives(AllReplied))])]
#[case::only_one_of_two(wait().wait_for(&[ADA, BOB]).speaks(105, ADA).speaks(110, ADA), &[(120, until(130)), (130, gives(Timeout))])]
#[case::all_had_spoken_long_before(wait().wait_for(&[ADA, BOB]).speaks(50, BOB).speaks(60, ADA), &[(100, gives(AllReplied))])]
#[case::all_have_spoken_with_settle_nought(wait().settle(0).wait_for(&[ADA, BOB]).speaks(105, ADA).speaks(110, BOB), &[(110, gives(AllReplied))])]
#[case::the_deadline_comes_while_it_settles(wait().wait_for(&[ADA]).speaks(128, ADA), &[(129, until(130)), (130, gives(AllReplied))])]
#[case::others_do_not_count(wait().wait_for(&[ADA]).chat(105, BOB), &[(110, until(130))])]
#[case::context_does_not_count(wait().wait_for(&[ADA]).chat(105, ADA), &[(110, until(130))])]
#[case::with_from_one_of_those_wakes_alone(wait().wait_for(&[ADA]).wakes(105, BOB), &[(105, until(110)), (110, gives(Messages))])]
#[case::with_from_all_replied_comes_first(wait().wait_for(&[ADA]).wakes(105, BOB).speaks(106, ADA), &[(110, until(111)), (111, gives(AllReplied))])]
fn wait_for(#[case] scene: Scene, #[case] steps: &[(i64, Step)]) {
    check(&scene, steps);
}

#[rstest]
#[case::is_due(wait().digest(60).chat(50, ADA), &[(109, until(110)), (110, gives(Digest))])]
#[case::is_due_from_the_start(wait().digest(60).chat(10, ADA), &[(100, gives(Digest))])]
#[case::goes_by_the_oldest(wait().digest(60).chat(50, ADA).chat(90, BOB), &[(100, until(110)), (110, gives(Digest))])]
#[case::is_not_due_before_the_deadline(wait().digest(60).chat(90, ADA), &[(100, until(130)), (130, gives(Timeout))])]
#[case::is_due_at_the_deadline(wait().digest(60).chat(70, ADA), &[(130, gives(Digest))])]
#[case::of_nothing_is_nothing(wait().digest(60), &[(100, until(130)), (130, gives(Timeout))])]
#[case::gives_way_to_what_woke(wait().digest(60).chat(40, ADA).wakes(98, ADA), &[(100, until(103)), (103, gives(Messages))])]
#[case::counts_those_waited_for_while_some_are_missing(
    wait().digest(60).wait_for(&[ADA, BOB]).speaks(50, ADA), &[(109, until(110)), (110, gives(Digest))])]
fn digest(#[case] scene: Scene, #[case] steps: &[(i64, Step)]) {
    check(&scene, steps);
}

#[rstest]
#[case::at_nothing(wait().look(), Timeout)]
#[case::at_what_wakes_nobody(wait().look().chat(99, ADA), Timeout)]
#[case::at_what_has_just_come(wait().look().wakes(100, ADA), Messages)]
#[case::while_somebody_types(wait().look().wakes(100, ADA).types(100, HERE, ADA), Messages)]
#[case::when_all_have_spoken(wait().look().wait_for(&[ADA]).speaks(100, ADA), AllReplied)]
#[case::when_some_have_spoken(wait().look().wait_for(&[ADA, BOB]).speaks(50, ADA), Timeout)]
#[case::is_no_digest(wait().look().digest(60).chat(10, ADA), Timeout)]
#[case::at_a_knock(wait().look().knock().chat(99, ADA), Knocks)]
#[case::at_a_knock_and_more(wait().look().knock().wakes(100, ADA), Messages)]
fn a_look(#[case] scene: Scene, #[case] reason: Reason) {
    check(&scene, &[(100, gives(reason))]);
}

#[rstest]
#[case::a_knock(wait().knock(), Knocks)]
#[case::a_knock_among_chat(wait().knock().chat(105, ADA), Knocks)]
#[case::a_knock_while_something_settles(wait().knock().wakes(110, ADA), Messages)]
#[case::a_knock_when_all_have_spoken(wait().knock().wait_for(&[ADA]).speaks(110, ADA), AllReplied)]
#[case::a_knock_when_some_have_spoken(wait().knock().wait_for(&[ADA, BOB]).speaks(110, ADA), Knocks)]
#[case::a_knock_when_a_digest_is_due(wait().knock().digest(60).chat(50, ADA), Digest)]
#[case::a_knock_before_the_digest_is_due(wait().knock().digest(60).chat(51, ADA), Knocks)]
#[case::a_newer_wait(wait().superseded(), Superseded)]
#[case::a_newer_wait_whatever_there_is(wait().superseded().knock().admitted().look().settle(0).wakes(50, ADA), Superseded)]
fn at_once(#[case] scene: Scene, #[case] reason: Reason) {
    check(&scene, &[(110, gives(reason))]);
}

#[rstest]
#[case::with_nothing(wait())]
#[case::and_leaves_what_woke_for_the_next_wait(wait().wakes(50, ADA))]
#[case::and_leaves_those_waited_for(wait().wait_for(&[ADA, BOB]).speaks(50, ADA))]
#[case::and_a_knock(wait().knock())]
fn admission_ends_a_wait_as_a_timeout(#[case] scene: Scene) {
    check(&scene.admitted(), &[(110, gives(Reason::Admitted))]);
    assert_eq!(Reason::Admitted.as_str(), "timeout");
}

#[rstest]
#[case(&[], &[ADA, BOB])]
#[case(&[(ADA, true)], &[BOB])]
#[case(&[(ADA, true), (ADA, true)], &[BOB])]
#[case(&[(ADA, true), (BOB, false)], &[BOB])]
#[case(&[(ADA, true), (BOB, true)], &[])]
fn missing_are_those_who_have_not_spoken_since_the_join(
    #[case] spoke: &[(&str, bool)],
    #[case] expected: &[&str],
) {
    let scene = spoke
        .iter()
        .fold(wait().wait_for(&[ADA, BOB]), |s, (who, awaited)| s.arrives(105, HERE, who, false, *awaited));
    assert_eq!(missing(&scene.terms.watch, &scene.entries), expected.iter().map(|u| user(u)).collect());
}

#[test]
fn reasons_have_the_contracts_names() {
    let names = [AllReplied, Messages, Digest, Knocks, Timeout, Superseded].map(Reason::as_str);
    assert_eq!(names, ["all_replied", "messages", "digest", "knocks", "timeout", "superseded"]);
}

#[test]
fn what_is_beyond_the_hops_makes_no_digest() {
    let mut scene = wait().digest(60).chat(50, ADA);
    assert_eq!(scene.at(110), gives(Digest));
    scene.entries[0].beyond = true;
    assert_eq!(scene.at(110), until(130));
    assert_eq!(scene.at(130), gives(Timeout));
}
