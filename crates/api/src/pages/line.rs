//! A message on a page, the same in the page and in the stream that follows it.

use askama::Template;
use parlour_app::view::{Answers, Line};
use parlour_domain::{message::cut, window::Piece};

use super::{frame::Frame, time};

/// Longer texts are folded: their beginning is shown, the rest on demand.
const FOLD_CHARACTERS: usize = 1200;
const FOLD_LINES: usize = 16;
const COLOURS: usize = 10;

#[derive(Template)]
#[template(path = "line.html")]
pub(super) struct LineView<'a> {
    pub(super) f: &'a Frame,
    pub(super) line: &'a Line,
    /// Whether to say in which lobby it was said.
    pub(super) placed: bool,
    begin: Vec<Piece>,
    rest: Vec<Piece>,
}

impl<'a> LineView<'a> {
    pub(super) fn new(f: &'a Frame, line: &'a Line, placed: bool) -> Self {
        let (begin, rest) = folded(&line.pieces);
        Self { f, line, placed, begin, rest }
    }

    fn colour(&self) -> usize {
        self.line.speaker.mark.bytes().take(4).map(usize::from).sum::<usize>() % COLOURS
    }

    fn initial(&self) -> String {
        let name = &self.line.speaker.name;
        let first = name.chars().find(|c| c.is_alphanumeric()).or_else(|| name.chars().next());
        first.map(|c| c.to_uppercase().take(1).collect()).unwrap_or_default()
    }

    fn machine_time(&self) -> String {
        time::machine(self.line.said_at_ms)
    }

    fn clock(&self) -> String {
        time::clock(self.line.said_at_ms)
    }
}

/// Only where enough is left to be worth it.
fn folded(pieces: &[Piece]) -> (Vec<Piece>, Vec<Piece>) {
    let text: String = pieces.iter().map(|p| p.text.as_str()).collect();
    let by_lines = text.match_indices('\n').nth(FOLD_LINES).map(|(at, _)| at);
    let by_length = cut(&text, FOLD_CHARACTERS).map(str::len);
    let Some(at) = by_lines.into_iter().chain(by_length).min() else { return (pieces.to_vec(), vec![]) };
    if text.len() - at < FOLD_CHARACTERS / 4 && by_lines.is_none() {
        return (pieces.to_vec(), vec![]);
    }
    split(pieces, at)
}

/// At a byte, which is between two characters.
fn split(pieces: &[Piece], mut at: usize) -> (Vec<Piece>, Vec<Piece>) {
    let (mut begin, mut rest) = (vec![], vec![]);
    for piece in pieces {
        let here = at.min(piece.text.len());
        let (before, after) = piece.text.split_at(here);
        for (text, to) in [(before, &mut begin), (after, &mut rest)] {
            if !text.is_empty() {
                to.push(Piece { text: text.to_owned(), mention: piece.mention });
            }
        }
        at -= here;
    }
    (begin, rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(texts: &[&str]) -> Vec<Piece> {
        texts.iter().map(|t| Piece { text: (*t).to_owned(), mention: t.starts_with('@') }).collect()
    }

    fn all(pieces: &[Piece]) -> String {
        pieces.iter().map(|p| p.text.as_str()).collect()
    }

    #[test]
    fn short_texts_are_not_folded() {
        for text in ["hello", &"x".repeat(FOLD_CHARACTERS + 9), &"\n".repeat(FOLD_LINES)] {
            assert!(folded(&pieces(&[text])).1.is_empty());
        }
    }

    #[test]
    fn long_ones_are_and_nothing_is_lost() {
        let long = "é".repeat(FOLD_CHARACTERS - 3);
        for texts in [[long.as_str(), "@Scout #2316", &long], ["a\n", "@b\n", &"c\n".repeat(20)]] {
            let (begin, rest) = folded(&pieces(&texts));
            assert!(!rest.is_empty());
            assert_eq!(all(&begin) + &all(&rest), texts.concat());
            assert!(begin.iter().chain(&rest).all(|p| !p.text.is_empty()));
        }
    }
}
