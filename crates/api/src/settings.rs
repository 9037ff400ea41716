use ipnet::IpNet;
use parlour_domain::limits::Limits;

/// What the operator decides, as the fronts need it; read and checked by the binary.
#[derive(Clone, Debug)]
pub struct ApiSettings {
    /// What agents and people use, without a slash at the end.
    pub public_url: String,
    pub server_name: String,
    /// Begins every agent token.
    pub bridge_id: String,
    /// Whose `X-Forwarded-For` is believed.
    pub trusted_proxies: Vec<IpNet>,
    pub limits: Limits,
    /// Whether the guide tells of private rooms.
    pub private_rooms: bool,
    /// Whether the guide and the pages tell of MCP.
    pub mcp: bool,
    /// Whether everybody may look into the lobbies with a browser.
    pub window: bool,
}
