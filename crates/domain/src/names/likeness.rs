//! Folds a name to what the eye makes of it, so that "Аdm1n" and "ad_min" compare equal to "admin".
//!
//! The steps: letters in frames, NFKD (takes full-width, mathematical and circled forms to plain letters), marks
//! dropped, look-alikes of capitals, lower case, look-alikes of small letters and digits, separators dropped, letter
//! pairs that read as one letter. Both sides of every comparison go through it, so it may be coarse: i, l and 1 are
//! one letter here, and an accent does not count. In the spirit of Unicode TR39, with a table of the scripts that
//! have whole words' worth of Latin look-alikes instead of its 10,000 rows.

use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

use super::invisible::is_invisible;

/// Capitals whose small letters look like something else (Greek, Cyrillic) or that have none (Cherokee, Lisu).
const CAPITALS: &[(char, &str)] = &[
    ('a', "ΑАꓮᎪ"),
    ('b', "ΒВꓐᏴ"),
    ('c', "СꓚᏟ"),
    ('d', "ꓓᎠ"),
    ('e', "ΕЕꓰᎬ"),
    ('f', "Ϝꓝ"),
    ('g', "ꓖᏀᏳ"),
    ('h', "ΗНꓧᎻ"),
    ('j', "ЈꓙᎫ"),
    ('k', "ΚКꓗᏦ"),
    ('l', "ΙІӀꓲꓡᏞᎥ"),
    ('m', "ΜМꓟᎷ"),
    ('n', "ΝꓠИ"),
    ('o', "ΟОꓳ"),
    ('p', "ΡРꓑᏢ"),
    ('r', "ꓣᎡᏒЯ"),
    ('s', "ЅꓢᏚ"),
    ('t', "ΤТꓔᎢ"),
    ('u', "ꓴ"),
    ('v', "ꓦᏙ"),
    ('w', "ꓪᎳԜ"),
    ('x', "ΧХꓫ"),
    ('y', "ΥУҮꓬᎩ"),
    ('z', "ΖꓜᏃ"),
];

/// Small letters, digits and signs. `l` stands for i, l and 1 together.
const SMALL: &[(char, &str)] = &[
    ('a', "аαɑᴀ@4⍺∂ә"),
    ('b', "ьʙ8ßƅв"),
    ('c', "сᴄϲⲥƈ¢ⅽ"),
    ('d', "ԁᴅđðɗɖժⅾ"),
    ('e', "еᴇɛε3℮єҽ€ǝə"),
    ('f', "ꜰƒϝք"),
    ('g', "ɡɢɠց9"),
    ('h', "һհʜħ"),
    ('j', "јյᴊ"),
    ('k', "кᴋκƙ"),
    ('l', "iıɨіιɩɪӏł1|!¦∣│ʟɭǀɫاו١۱丨ᅵ£"),
    ('m', "мᴍɱ₥"),
    ('n', "пиηɴոռŋɲɳн"),
    ('o', "0оοσօᴏøɵөⲟס٥۵ه〇○◯◦ᄋ๐०"),
    ('p', "рρᴘƥⲣϱ"),
    ('q', "ԛզ"),
    ('r', "гʀɾɽяᴦ"),
    ('s', "ѕꜱʂ5$§ƨ"),
    ('t', "тᴛτƭʈŧ7†"),
    ('u', "υսᴜʉμʋц"),
    ('v', "νѵᴠ"),
    ('w', "ԝᴡωшɯ"),
    ('x', "хχ×ҳ"),
    ('y', "уүʏγყƴ¥"),
    ('z', "ᴢʐƶ"),
    // The traditional forms of two reserved words.
    ('统', "統"),
    ('员', "員"),
];

/// Signs that people put between letters, and what looks like them.
const SEPARATORS: &str = "-_.·・‐‑‒–—―−⁃˗•∙⋅‧。";

/// The key under which look-alikes meet. May be empty (a name of nothing but separators).
pub(super) fn fold(name: &str) -> String {
    fold_signs(name).replace("rn", "m").replace("vv", "w").replace("cl", "d")
}

/// [`fold`] without the pairs of letters, which could swallow the end of a prefix ("parlour" in "parlournews").
pub(super) fn fold_signs(name: &str) -> String {
    name.chars()
        .map(unframe)
        .nfkd()
        .filter(|c| !is_combining_mark(*c))
        .map(|c| latin(CAPITALS, c))
        .flat_map(char::to_lowercase)
        // Lower case may bring marks of its own (İ).
        .filter(|c| !is_combining_mark(*c) && !is_gap(*c))
        .map(|c| latin(SMALL, c))
        .collect()
}

/// Blanks, separators, and what cannot be seen.
pub(super) fn is_gap(sign: char) -> bool {
    sign.is_whitespace() || is_invisible(sign) || SEPARATORS.contains(sign)
}

fn latin(table: &[(char, &str)], sign: char) -> char {
    table.iter().find(|(_, alike)| alike.contains(sign)).map_or(sign, |(plain, _)| *plain)
}

/// Letters in circles, squares and brackets that NFKD leaves alone or turns into three signs, and flag letters.
fn unframe(sign: char) -> char {
    const FRAMED: [u32; 5] = [0x249C, 0x1F110, 0x1F150, 0x1F170, 0x1F1E6];
    let code = u32::from(sign);
    FRAMED.iter().find_map(|first| letter(code.checked_sub(*first)?)).unwrap_or(sign)
}

fn letter(index: u32) -> Option<char> {
    u8::try_from(index).ok().filter(|i| *i < 26).map(|i| char::from(b'a' + i))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::case_and_separators("A-d_M. I·n・")]
    #[case::digits("4dm1n")]
    #[case::l_for_i("admln")]
    #[case::rn_for_m("adrnin")]
    #[case::cl_for_d("aclmin")]
    #[case::cyrillic("аdміn")]
    #[case::cyrillic_capitals("АDМІN")]
    #[case::greek("αdmιn")]
    #[case::greek_capitals("ΑDΜΙΝ")]
    #[case::full_width("ａｄｍｉｎ")]
    #[case::mathematical("𝐚𝓭𝖒𝕚𝚗")]
    #[case::circled("ⓐⓓⓜⓘⓝ")]
    #[case::black_circled("🅐🅓🅜🅘🅝")]
    #[case::bracketed("⒜⒟⒨⒤⒩")]
    #[case::flags("🇦🇩🇲🇮🇳")]
    #[case::accents("ádmïn̈")]
    #[case::stroked("ađmɨn̸")]
    #[case::dotted_capital("ADMİN")]
    #[case::dotless("admın")]
    #[case::small_capitals("ᴀᴅᴍɪɴ")]
    #[case::cherokee("ᎪᎠᎷᎥN")]
    #[case::lisu("ꓮꓓꓟꓲꓠ")]
    #[case::spacing_accent("adm´in")]
    #[case::dashes("ad—min")]
    fn reads_as_admin(#[case] name: &str) {
        assert_eq!(fold(name), fold("admin"), "{name}");
    }

    #[rstest]
    #[case("admins", "admin")]
    #[case("管理", "管理员")]
    #[case("か", "き")]
    #[case("안녕", "안영")]
    #[case("👩", "👨")]
    fn tells_apart(#[case] one: &str, #[case] other: &str) {
        assert_ne!(fold(one), fold(other));
    }

    #[test]
    fn chinese_forms_and_radicals_meet() {
        assert_eq!(fold("系統"), fold("系统"));
        assert_eq!(fold("管 理 員"), fold("管理员"));
    }

    #[test]
    fn no_sign_is_in_a_table_twice_or_folded_further() {
        for table in [CAPITALS, SMALL] {
            let mut all: Vec<char> = table.iter().flat_map(|(_, alike)| alike.chars()).collect();
            let plain = table.iter().filter(|(c, _)| all.contains(c)).count();
            assert_eq!(plain, 0, "a target is itself a source");
            all.sort_unstable();
            assert!(all.windows(2).all(|w| w[0] != w[1]), "{all:?}");
        }
    }

    proptest! {
        #[test]
        fn separators_never_matter(text in "[a-zа-яα-ω0-9@$!一-龥]{0,30}", gap in "[-_. ·・]{1,3}") {
            let spread: String = text.chars().flat_map(|c| [gap.clone(), c.to_string()]).collect();
            prop_assert_eq!(fold(&text), fold(&spread));
        }

        #[test]
        fn any_text_folds_without_panic_to_signs_that_are_seen(text in any::<String>()) {
            prop_assert!(!fold(&text).chars().any(|c| is_gap(c) || is_combining_mark(c) || c.is_uppercase()));
        }

        #[test]
        fn case_never_matters(text in "[a-zA-Z0-9 ._-]{0,40}") {
            prop_assert_eq!(fold(&text), fold(&text.to_uppercase()));
        }
    }
}
