//! Paging through a room's kept messages. Contract section 7.

/// Where a page begins. Indexes are into the messages that the agent may see, in the room's order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    Newest,
    Before(usize),
    After(usize),
    Around(usize),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// In the order given: newest first backwards, else oldest first.
    pub given: Vec<usize>,
    /// To go on with: the last one given. `None` at the end, and always for [`Anchor::Around`].
    pub next: Option<usize>,
}

/// One page of `len` messages, `keep` filtering by author or mention.
#[must_use]
pub fn page(len: usize, anchor: Anchor, limit: usize, keep: impl Fn(usize) -> bool) -> Page {
    match anchor {
        Anchor::Newest => walk((0..len).rev().filter(|&i| keep(i)), limit),
        Anchor::Before(at) => walk((0..at.min(len)).rev().filter(|&i| keep(i)), limit),
        Anchor::After(at) => walk((at.saturating_add(1)..len).filter(|&i| keep(i)), limit),
        Anchor::Around(at) => around(len, at, limit),
    }
}

fn walk(mut from: impl Iterator<Item = usize>, limit: usize) -> Page {
    let given: Vec<usize> = from.by_ref().take(limit).collect();
    let next = from.next().and(given.last().copied());
    Page { given, next }
}

/// Half of `limit` before (rounded up) and half after, at most twenty on each side, and the message itself.
fn around(len: usize, at: usize, limit: usize) -> Page {
    const SIDE: usize = crate::limits::MAX_AROUND_SIDE;
    let before = limit.div_ceil(2).min(SIDE);
    let after = (limit / 2).min(SIDE);
    let end = at.saturating_add(after + 1).min(len);
    Page { given: (at.saturating_sub(before)..end).collect(), next: None }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn all(_: usize) -> bool {
        true
    }

    #[rstest]
    #[case::newest(10, Anchor::Newest, 3, &[9, 8, 7], Some(7))]
    #[case::before(10, Anchor::Before(7), 3, &[6, 5, 4], Some(4))]
    #[case::to_the_start(10, Anchor::Before(3), 3, &[2, 1, 0], None)]
    #[case::after(10, Anchor::After(4), 3, &[5, 6, 7], Some(7))]
    #[case::to_the_end(10, Anchor::After(6), 3, &[7, 8, 9], None)]
    #[case::nothing_after_the_newest(10, Anchor::After(9), 3, &[], None)]
    #[case::nothing_at_all(0, Anchor::Newest, 3, &[], None)]
    #[case::around_odd(10, Anchor::Around(5), 3, &[3, 4, 5, 6], None)]
    #[case::around_at_the_edge(10, Anchor::Around(0), 4, &[0, 1, 2], None)]
    fn pages(
        #[case] len: usize,
        #[case] anchor: Anchor,
        #[case] limit: usize,
        #[case] given: &[usize],
        #[case] next: Option<usize>,
    ) {
        assert_eq!(page(len, anchor, limit, all), Page { given: given.to_vec(), next });
    }

    #[test]
    fn around_gives_at_most_twenty_on_each_side() {
        assert_eq!(page(200, Anchor::Around(100), 50, all).given, (80..=120).collect::<Vec<_>>());
    }

    #[test]
    fn filters_look_past_what_they_leave_out() {
        let even = |i: usize| i.is_multiple_of(2);
        assert_eq!(page(10, Anchor::Newest, 2, even), Page { given: vec![8, 6], next: Some(6) });
        assert_eq!(page(10, Anchor::Before(4), 2, even), Page { given: vec![2, 0], next: None });
        assert_eq!(page(10, Anchor::After(4), 2, even), Page { given: vec![6, 8], next: None });
    }
}
