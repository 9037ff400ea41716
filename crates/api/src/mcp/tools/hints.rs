use rmcp::model::ToolAnnotations;

/// What a host may tell its user before it calls, and by which it may decide whether to ask.
#[derive(Clone, Copy, Debug)]
pub(in crate::mcp) struct Hints {
    reads: bool,
    destroys: bool,
    repeatable: bool,
    open: bool,
}

impl Hints {
    /// Changes nothing.
    pub(super) const READS: Self = Self { reads: true, destroys: false, repeatable: false, open: true };
    /// Adds something.
    pub(super) const ADDS: Self = Self { reads: false, destroys: false, repeatable: false, open: true };
    /// Takes something away for good. To do it twice changes nothing more.
    pub(super) const DESTROYS: Self = Self { reads: false, destroys: true, repeatable: true, open: true };

    /// To do it twice is to do it once.
    pub(super) const fn repeatable(self) -> Self {
        Self { repeatable: true, ..self }
    }

    /// Concerns nothing but the caller's own state with us.
    pub(super) const fn closed(self) -> Self {
        Self { open: false, ..self }
    }

    /// Said in full where it means something, since the protocol's defaults are not what one expects: left out,
    /// `destructiveHint` is true.
    pub(in crate::mcp) fn annotations(self) -> ToolAnnotations {
        let repeatable = (!self.reads).then_some(self.repeatable);
        ToolAnnotations::from_raw(None, Some(self.reads), Some(self.destroys), repeatable, Some(self.open))
    }
}
