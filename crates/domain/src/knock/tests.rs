use proptest::prelude::*;
use rstest::rstest;

use super::*;

const T: i64 = 1_796_000_000_000;

fn knocked(at_ms: i64, answer: Answer) -> Knock {
    Knock { at_ms, answer }
}

fn pass(removed_at_code: Option<i64>) -> Option<Pass> {
    Some(Pass { way: Way::Code, removed_at_code })
}

fn standing(pass: Option<Pass>, knock: Option<Knock>) -> Standing {
    Standing { pass, knock }
}

fn waits(news: bool) -> Outcome {
    Outcome::Waits { knock: Knock::new(T), news }
}

#[rstest]
#[case::just_now(Answer::None, 0, Status::Waiting)]
#[case::nearly_an_hour(Answer::None, KNOCK_LIFE_MS - 1, Status::Waiting)]
#[case::an_hour(Answer::None, KNOCK_LIFE_MS, Status::Expired)]
#[case::clock_back(Answer::None, -5, Status::Waiting)]
#[case::admitted(Answer::Admitted, KNOCK_LIFE_MS * 9, Status::Admitted)]
#[case::declined(Answer::Declined, KNOCK_LIFE_MS * 9, Status::Declined)]
fn statuses(#[case] answer: Answer, #[case] later: i64, #[case] status: Status) {
    assert_eq!(knocked(T, answer).status(T + later), status);
}

#[rstest]
#[case::stranger(None, None, waits(true))]
#[case::waiting(None, Some(knocked(T - 9, Answer::None)), waits(false))]
#[case::expired(None, Some(knocked(T - KNOCK_LIFE_MS, Answer::None)), waits(true))]
#[case::declined(None, Some(knocked(T - 9, Answer::Declined)), Outcome::Declined(knocked(T - 9, Answer::Declined)))]
#[case::declined_long_ago(
    None,
    Some(knocked(0, Answer::Declined)),
    Outcome::Declined(knocked(0, Answer::Declined))
)]
#[case::let_in_before(pass(None), Some(knocked(T - 9, Answer::Admitted)), Outcome::Enter)]
#[case::let_in_by_code_after_a_refusal(pass(None), Some(knocked(T - 9, Answer::Declined)), Outcome::Enter)]
#[case::removed(pass(Some(1)), Some(knocked(T - 9, Answer::Admitted)), waits(true))]
#[case::removed_and_knocking_since(pass(Some(1)), Some(knocked(T - 9, Answer::None)), waits(false))]
#[case::removed_and_declined_since(
    pass(Some(1)),
    Some(knocked(T - 9, Answer::Declined)),
    Outcome::Declined(knocked(T - 9, Answer::Declined))
)]
fn what_comes_of_knocking(
    #[case] pass: Option<Pass>,
    #[case] before: Option<Knock>,
    #[case] outcome: Outcome,
) {
    assert_eq!(knock(standing(pass, before), &[], 1, T), outcome);
}

#[test]
fn a_full_door_says_when_the_oldest_lapses() {
    let others = [knocked(T - 10_000, Answer::None), knocked(T - 60_001, Answer::None)];
    let stranger = standing(None, None);
    assert_eq!(knock(stranger, &others, 2, T), Outcome::Full(RetryAfter(3_540)));
    assert_eq!(knock(stranger, &others, 3, T), waits(true));
    assert_eq!(knock(stranger, &[], 0, T), Outcome::Full(RetryAfter(3_600)));
    // who was turned away, or let in, needs no place
    assert_eq!(knock(standing(pass(None), None), &others, 2, T), Outcome::Enter);
}

#[test]
fn the_answered_and_the_lapsed_take_no_place() {
    let others = [
        knocked(T - KNOCK_LIFE_MS, Answer::None),
        knocked(T - 1, Answer::Admitted),
        knocked(T - 1, Answer::Declined),
    ];
    assert_eq!(knock(standing(None, None), &others, 1, T), waits(true));
}

#[rstest]
#[case::never_in(None, 1, true)]
#[case::in_before(pass(None), 1, true)]
#[case::the_code_of_the_removal(pass(Some(3)), 3, false)]
#[case::an_older_one(pass(Some(3)), 2, false)]
#[case::a_newer_one(pass(Some(3)), 4, true)]
#[case::removed_before_there_was_any(pass(Some(0)), 1, true)]
fn codes_and_removals(#[case] pass: Option<Pass>, #[case] number: i64, #[case] opens: bool) {
    assert_eq!(code_opens(pass, number), opens);
}

#[test]
fn only_those_who_came_by_code_or_knock_may_be_removed() {
    let removable: Vec<&str> = Way::ALL.iter().filter(|w| w.may_be_removed()).map(|w| w.as_str()).collect();
    assert_eq!(removable, ["code", "knock"]);
}

#[test]
fn words_are_read_back() {
    for way in Way::ALL {
        assert_eq!(Way::parse(way.as_str()), Some(way));
    }
    for answer in Answer::ALL {
        assert_eq!(Answer::parse(answer.as_str()), Some(answer));
    }
    assert_eq!((Way::parse("x"), Answer::parse("")), (None, None));
}

#[test]
fn the_queue_is_by_time_then_by_name() {
    let at = |ms| knocked(T + ms, Answer::None);
    let knocks = [
        ("c", at(2)),
        ("b", at(1)),
        ("a", at(2)),
        ("gone", at(-KNOCK_LIFE_MS)),
        ("in", knocked(T, Answer::Admitted)),
    ];
    let order: Vec<&str> = queue(knocks, T + 3).into_iter().map(|(who, _)| who).collect();
    assert_eq!(order, ["b", "a", "c"]);
}

#[derive(Clone, Copy, Debug)]
enum Act {
    Knock(usize),
    Admit(usize),
    Decline(usize),
    Remove(usize),
    Pass(i64),
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let who = 0usize..4;
    prop::collection::vec(
        prop_oneof![
            3 => who.clone().prop_map(Act::Knock),
            1 => who.clone().prop_map(Act::Admit),
            1 => who.clone().prop_map(Act::Decline),
            1 => who.prop_map(Act::Remove),
            2 => (0..KNOCK_LIFE_MS).prop_map(Act::Pass),
        ],
        1..80,
    )
}

proptest! {
    /// Four agents at a door with two places, whatever they and the owner do.
    #[test]
    fn a_door_keeps_its_promises(acts in acts()) {
        let (mut now, mut all, mut told) = (T, [Standing::default(); 4], [false; 4]);
        for act in acts {
            match act {
                Act::Pass(ms) => now += ms,
                Act::Admit(i) => if all[i].knock.is_some_and(|k| k.waits(now)) {
                    all[i].knock = all[i].knock.map(|k| Knock { answer: Answer::Admitted, ..k });
                    all[i].pass = Some(Pass { way: Way::Knock, removed_at_code: None });
                },
                Act::Decline(i) => if all[i].knock.is_some_and(|k| k.waits(now)) {
                    all[i].knock = all[i].knock.map(|k| Knock { answer: Answer::Declined, ..k });
                },
                Act::Remove(i) => all[i].pass = all[i].pass.map(|p| Pass { removed_at_code: Some(0), ..p }),
                Act::Knock(i) => {
                    let others: Vec<Knock> = (0..4).filter(|j| *j != i).filter_map(|j| all[j].knock).collect();
                    match knock(all[i], &others, 2, now) {
                        Outcome::Enter => prop_assert!(all[i].pass.is_some_and(Pass::holds)),
                        Outcome::Declined(_) => {
                            prop_assert_eq!(all[i].knock.unwrap().answer, Answer::Declined);
                        }
                        Outcome::Full(RetryAfter(s)) => {
                            prop_assert!((1..=3_600).contains(&s));
                            // a place is free by then, for whoever comes first
                            let later = now + i64::try_from(s).unwrap() * 1_000;
                            prop_assert!(!matches!(knock(all[i], &others, 2, later), Outcome::Full(_)));
                        }
                        Outcome::Waits { knock: new, news } => {
                            prop_assert_eq!(news, !all[i].knock.is_some_and(|k| k.waits(now)));
                            all[i].knock = Some(new);
                            told[i] = true;
                            let last = queue((0..4).filter_map(|j| Some((j, all[j].knock?))), now).pop().unwrap();
                            prop_assert_eq!(last.1.at_ms, now);
                        }
                    }
                }
            }
            let waiting = all.iter().filter(|s| s.knock.is_some_and(|k| k.waits(now))).count();
            prop_assert!(waiting <= 2);
        }
    }

    #[test]
    fn no_numbers_make_it_panic(at: i64, now: i64, places: u32) {
        let waiting = knocked(at, Answer::None);
        let _ = waiting.status(now);
        let _ = knock(standing(None, Some(waiting)), &[waiting, waiting], places, now);
    }
}
