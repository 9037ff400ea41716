//! An agent's picture: a symmetric pattern in two colours, the same for ever for the same Matrix id. Few large cells, so
//! that it is told apart at the size of a line of text.

use ruma::UserId;
use sha2::{Digest, Sha256};

/// Cells in a row.
const CELLS: usize = 5;
/// Pixels of a cell, and of the rim around them all: many clients cut pictures round, and the corners are to stay.
const CELL: usize = 18;
const RIM: usize = 19;
/// Pixels in a row of the whole picture.
pub const SIDE: usize = CELLS * CELL + 2 * RIM;
/// Fewer or more cells than this look empty or full.
const FILLED: std::ops::RangeInclusive<u32> = 9..=17;
const HUES: u16 = 24;

/// Red, green, blue.
pub type Colour = [u8; 3];

/// A picture of [`SIDE`] pixels in a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    pub ground: Colour,
    pub ink: Colour,
    cells: [[bool; CELLS]; CELLS],
}

impl Picture {
    #[must_use]
    pub fn of(user: &UserId) -> Self {
        let mut hash: [u8; 32] = Sha256::digest(user.as_bytes()).into();
        let hue = u16::from(hash[0]) % HUES * (360 / HUES);
        let mut cells = pattern(&hash);
        while !FILLED.contains(&filled(&cells)) {
            hash = Sha256::digest(hash).into();
            cells = pattern(&hash);
        }
        Self { ground: colour(hue, 0.45, 0.30), ink: colour((hue + 40) % 360, 0.85, 0.80), cells }
    }

    /// The bridge's own: a door that stands open.
    #[must_use]
    pub fn of_the_bridge() -> Self {
        let rows = ["#####", "#...#", "#..##", "#...#", "#...#"];
        let cells = rows.map(|row| std::array::from_fn(|x| row.as_bytes().get(x) == Some(&b'#')));
        Self { ground: [30, 34, 44], ink: [236, 224, 200], cells }
    }

    /// Whether a pixel is ink.
    #[must_use]
    pub fn is_ink(&self, x: usize, y: usize) -> bool {
        let cell = |at: usize| at.checked_sub(RIM).map(|at| at / CELL).filter(|cell| *cell < CELLS);
        cell(x).zip(cell(y)).is_some_and(|(x, y)| self.cells[y][x])
    }
}

/// The left half and the middle, mirrored.
fn pattern(hash: &[u8; 32]) -> [[bool; CELLS]; CELLS] {
    std::array::from_fn(|y| {
        std::array::from_fn(|x| {
            let bit = y * CELLS.div_ceil(2) + x.min(CELLS - 1 - x);
            hash[1 + bit / 8] >> (bit % 8) & 1 == 1
        })
    })
}

fn filled(cells: &[[bool; CELLS]; CELLS]) -> u32 {
    cells.iter().flatten().map(|cell| u32::from(*cell)).sum()
}

/// From hue (degrees), saturation and lightness (0 to 1).
fn colour(hue: u16, saturation: f32, lightness: f32) -> Colour {
    let chroma = (1.0 - (2.0 * lightness - 1.0).abs()) * saturation;
    let sector = f32::from(hue) / 60.0;
    let second = chroma * (1.0 - (sector % 2.0 - 1.0).abs());
    let rgb = match hue / 60 {
        0 => [chroma, second, 0.0],
        1 => [second, chroma, 0.0],
        2 => [0.0, chroma, second],
        3 => [0.0, second, chroma],
        4 => [second, 0.0, chroma],
        _ => [chroma, 0.0, second],
    };
    let lift = lightness - chroma / 2.0;
    rgb.map(|part| ((part + lift) * 255.0).round() as u8)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn of(n: usize) -> Picture {
        Picture::of(&UserId::parse(format!("@agent_{n}:x")).unwrap())
    }

    #[test]
    fn the_same_for_the_same_and_hardly_ever_for_another() {
        assert_eq!(of(1), of(1));
        let different: BTreeSet<String> = (0..200).map(|n| format!("{:?}", of(n))).collect();
        assert!(different.len() >= 199, "{}", different.len());
    }

    #[test]
    fn legible_symmetric_and_neither_empty_nor_full() {
        let light = |c: Colour| {
            let part = |v: u8| (f64::from(v) / 255.0).powf(2.2);
            0.2126 * part(c[0]) + 0.7152 * part(c[1]) + 0.0722 * part(c[2])
        };
        for picture in (0..500).map(of).chain([Picture::of_the_bridge()]) {
            let contrast = (light(picture.ink) + 0.05) / (light(picture.ground) + 0.05);
            assert!(contrast > 3.0, "{picture:?}: {contrast}");
        }
        for picture in (0..500).map(of) {
            assert!(FILLED.contains(&filled(&picture.cells)));
            assert!(picture.cells.iter().all(|row| row.iter().eq(row.iter().rev())));
        }
    }

    #[test]
    fn cut_round_it_is_whole() {
        let (half, from_centre) = (SIDE as f64 / 2.0, |x: usize| x as f64 + 0.5 - SIDE as f64 / 2.0);
        let all = Picture { cells: [[true; CELLS]; CELLS], ..Picture::of_the_bridge() };
        for (x, y) in (0..SIDE).flat_map(|y| (0..SIDE).map(move |x| (x, y))) {
            assert!(!all.is_ink(x, y) || from_centre(x).hypot(from_centre(y)) <= half, "{x} {y}");
        }
        assert_eq!((SIDE, all.is_ink(RIM, RIM), all.is_ink(RIM - 1, RIM)), (128, true, false));
    }

    /// Whoever changes the drawing changes what people know agents by.
    #[test]
    fn they_stay_as_they_are() {
        let drawn = |picture: Picture| {
            let row = |row: &[bool; CELLS]| row.map(|cell| if cell { "##" } else { ".." }).concat();
            let rows: Vec<String> = picture.cells.iter().map(row).collect();
            format!("{:?} on {:?}\n{}\n", picture.ink, picture.ground, rows.join("\n"))
        };
        let all: Vec<String> = [of(1), of(2), of(3), Picture::of_the_bridge()].map(drawn).into();
        insta::assert_snapshot!(all.join("\n"));
    }
}
