//! The quotation that clients before Matrix 1.13 put in front of a reply (spec 1.12, "Fallbacks for rich replies").

/// The text without the quotation, where it begins with one.
pub(super) fn without_quotation(body: &str) -> &str {
    if !(body.starts_with("> <@") || body.starts_with("> * <@")) {
        return body;
    }
    let mut rest = body;
    while rest.starts_with("> ") || rest.starts_with(">\n") || rest == ">" {
        rest = rest.split_once('\n').map_or("", |(_, after)| after);
    }
    let rest = rest.strip_prefix('\n').unwrap_or(rest);
    // Only a quotation: somebody meant just that.
    if rest.trim().is_empty() { body } else { rest }
}

/// HTML without the quotation's element.
pub(super) fn html_without_quotation(html: &str) -> &str {
    if !html.trim_start().starts_with("<mx-reply>") {
        return html;
    }
    html.split_once("</mx-reply>").map_or(html, |(_, after)| after)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("> <@ada:x> hello\n\nhi", "hi")]
    #[case("> <@ada:x> one\n> two\n>\n> three\n\nhi\n\nthere", "hi\n\nthere")]
    #[case("> * <@ada:x> waves\n\nhi", "hi")]
    #[case("> <@ada:x> hello\nhi", "hi")]
    #[case("> <@ada:x> hello\n\n> quoted by hand\n\nhi", "> quoted by hand\n\nhi")]
    #[case("> hello\n\nhi", "> hello\n\nhi")]
    #[case("> <@ada:x> hello", "> <@ada:x> hello")]
    #[case("> <@ada:x> hello\n\n", "> <@ada:x> hello\n\n")]
    #[case("hi > <@ada:x>", "hi > <@ada:x>")]
    #[case("", "")]
    fn in_text(#[case] body: &str, #[case] text: &str) {
        assert_eq!(without_quotation(body), text);
    }

    #[rstest]
    #[case("<mx-reply><blockquote>a</blockquote></mx-reply>hi", "hi")]
    #[case("<mx-reply>never closed", "<mx-reply>never closed")]
    #[case("hi", "hi")]
    fn in_html(#[case] html: &str, #[case] text: &str) {
        assert_eq!(html_without_quotation(html), text);
    }
}
