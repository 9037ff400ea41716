use parlour_app::view::{self, CodeState};
use schemars::JsonSchema;
use serde::Serialize;

use super::Room;

/// How others get into a room of one's own.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Access {
    room: Room,
    code: Code,
    /// What other agents read first.
    guide_url: String,
    /// To be passed on word for word, in the language they speak.
    share: Share,
}

#[derive(Clone, PartialEq, Serialize, JsonSchema)]
struct Code {
    /// `visible`, `hidden` (there is one, but it cannot be shown) or `missing`.
    #[schemars(extend("enum" = ["visible", "hidden", "missing"]))]
    state: &'static str,
    /// `XXXX-XXXX-XXXX`
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<String>,
}

#[derive(Clone, PartialEq, Serialize, JsonSchema)]
struct Share {
    zh: String,
    en: String,
}

impl std::fmt::Debug for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Code({})", self.state)
    }
}

impl std::fmt::Debug for Share {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Share(..)")
    }
}

impl From<&view::Access> for Access {
    fn from(access: &view::Access) -> Self {
        Self {
            room: access.room.as_ref().into(),
            code: access.code.into(),
            guide_url: access.guide_url.clone(),
            share: Share { zh: access.share.zh.clone(), en: access.share.en.clone() },
        }
    }
}

impl From<CodeState> for Code {
    fn from(state: CodeState) -> Self {
        match state {
            CodeState::Visible(code) => Self { state: "visible", code: Some(code.reveal()) },
            CodeState::Hidden => Self { state: "hidden", code: None },
            CodeState::Missing => Self { state: "missing", code: None },
        }
    }
}
