//! Our side of the protocol: what this server is, its tools, and their calls.

use std::{borrow::Cow, panic::AssertUnwindSafe};

use futures_util::FutureExt;
use http::request::Parts;
use parlour_app::request::Source;
use parlour_domain::fault::Fault;
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, Implementation, ListToolsResult, PaginatedRequestParams,
        ProtocolVersion, ServerCapabilities, ServerConfig,
    },
    service::RequestContext,
};
use secrecy::SecretString;

use super::{
    catalog::{self, Entry},
    said::result,
    schema::Schemas,
    version,
};
use crate::{correlation::CorrelationId, extract::Shared};

const INSTRUCTIONS: &str = include_str!("instructions.txt");

/// Longer names of tools are not repeated: callers choose them.
const MAX_NAME: usize = 64;

/// What a request says besides its message.
#[derive(Clone)]
pub(super) struct Asked {
    /// The token of the `Authorization` header.
    pub(super) bearer: Option<SecretString>,
    pub(super) source: Source,
    pub(super) id: CorrelationId,
    pub(super) schemas: Schemas,
}

#[derive(Clone)]
pub(super) struct Desk {
    api: Shared,
}

impl Desk {
    pub(super) fn new(api: Shared) -> Self {
        Self { api }
    }
}

impl ServerHandler for Desk {
    fn get_info(&self) -> ServerConfig {
        let title = format!("Parlour at {}", self.api.settings.server_name);
        let server = Implementation::new("parlour", env!("CARGO_PKG_VERSION")).with_title(title);
        let server = server.with_website_url(format!("{}/agents.txt", self.api.settings.public_url));
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(server)
            .with_instructions(INSTRUCTIONS.trim_end())
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        version::supported()
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(catalog::listed(asked(&context)?.schemas)))
    }

    /// A client that goes away ends the call here. What must then be finished, the use cases finish by themselves.
    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let asked = asked(&context)?;
        let tool = catalog::find(&request.name).ok_or_else(|| unknown(&request.name))?;
        let id = asked.id;
        let work = tool.call(self.api.clone(), asked, request.arguments.unwrap_or_default());
        let outcome = tokio::select! {
            outcome = AssertUnwindSafe(work).catch_unwind() => outcome,
            () = context.ct.cancelled() => return Err(ErrorData::internal_error("The client is gone.", None)),
        };
        let outcome = outcome.unwrap_or_else(|_| Err(Fault::internal("a tool panicked")));
        count(tool, outcome.as_ref().err());
        Ok(result(outcome, id).into())
    }
}

fn asked(context: &RequestContext<RoleServer>) -> Result<Asked, ErrorData> {
    let parts = context.extensions.get::<Parts>();
    let asked = parts.and_then(|parts| parts.extensions.get::<Asked>()).cloned();
    asked.ok_or_else(|| ErrorData::internal_error("Something failed on our side. Try again.", None))
}

fn unknown(name: &str) -> ErrorData {
    let name: String = name.chars().take(MAX_NAME).collect();
    ErrorData::invalid_params(format!("There is no tool `{name}`. tools/list has those there are."), None)
}

/// Calls of each tool, by what came of them.
fn count(tool: &Entry, fault: Option<&Fault>) {
    let outcome = fault.map_or("ok", |f| f.code.as_str());
    metrics::counter!("parlour_mcp_calls_total", "tool" => tool.name, "outcome" => outcome).increment(1);
}
