use std::fmt::Write;

use parlour_matrix::events::Said;

/// A text under way, in plain and in HTML.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Words(Said, Privacy);

/// Whether words may be said before others; what they are joined with is as private.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Privacy {
    #[default]
    Open,
    Confidential,
}

impl Words {
    pub(crate) fn new(text: impl AsRef<str>) -> Self {
        Self::default().text(text)
    }

    pub(crate) fn text(mut self, text: impl AsRef<str>) -> Self {
        self.0.plain.push_str(text.as_ref());
        escape(&mut self.0.html, text.as_ref());
        self
    }

    /// A name.
    pub(crate) fn bold(self, text: impl AsRef<str>) -> Self {
        self.within("strong", text)
    }

    /// Something to be typed or copied.
    pub(crate) fn code(self, text: impl AsRef<str>) -> Self {
        self.within("code", text)
    }

    /// Items with numbers before them, as they can be named by.
    pub(crate) fn numbered(mut self, items: impl IntoIterator<Item = Self>) -> Self {
        self.0.html.push_str("<ol>");
        for (at, item) in items.into_iter().enumerate() {
            // writing to a string cannot fail
            let _ = write!(self.0.plain, "\n{}. {}", at + 1, item.0.plain);
            let _ = write!(self.0.html, "<li>{}</li>", item.0.html);
        }
        self.0.html.push_str("</ol>");
        self
    }

    pub(crate) fn listed(mut self, items: impl IntoIterator<Item = Self>) -> Self {
        self.0.html.push_str("<ul>");
        for item in items {
            let _ = write!(self.0.plain, "\n• {}", item.0.plain);
            let _ = write!(self.0.html, "<li>{}</li>", item.0.html);
        }
        self.0.html.push_str("</ul>");
        self
    }

    /// For whoever asked alone: they hold a code.
    pub(crate) fn confidential(mut self) -> Self {
        self.1 = Privacy::Confidential;
        self
    }

    pub(crate) fn is_confidential(&self) -> bool {
        self.1 == Privacy::Confidential
    }

    pub(crate) fn and(mut self, other: &Self) -> Self {
        self.1 = self.1.max(other.1);
        self.0.plain.push_str(&other.0.plain);
        self.0.html.push_str(&other.0.html);
        self
    }

    pub(crate) fn said(&self) -> &Said {
        &self.0
    }

    fn within(mut self, tag: &str, text: impl AsRef<str>) -> Self {
        self.0.plain.push_str(text.as_ref());
        let _ = write!(self.0.html, "<{tag}>");
        escape(&mut self.0.html, text.as_ref());
        let _ = write!(self.0.html, "</{tag}>");
        self
    }
}

fn escape(html: &mut String, text: &str) {
    for sign in text.chars() {
        match sign {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\n' => html.push_str("<br>"),
            other => html.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_say_the_same_and_no_name_is_markup() {
        let item = Words::default().bold("<b>&\"Mallory\"");
        let words =
            Words::new("At the door:").numbered([item.clone(), Words::new("x\n").code("y")]).listed([item]);
        assert_eq!(words.said().plain, "At the door:\n1. <b>&\"Mallory\"\n2. x\ny\n• <b>&\"Mallory\"");
        let name = "<strong>&lt;b&gt;&amp;&quot;Mallory&quot;</strong>";
        let expected = format!(
            "At the door:<ol><li>{name}</li><li>x<br><code>y</code></li></ol><ul><li>{name}</li></ul>"
        );
        assert_eq!(words.said().html, expected);
    }
}
