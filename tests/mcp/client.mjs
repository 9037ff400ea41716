// The official MCP client for TypeScript, led line by line; see README.md.
import { createInterface } from 'node:readline';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const [url, form] = process.argv.slice(2);
const say = (answer) => console.log(JSON.stringify(answer));

// The SDK takes both forms; a client that takes only event streams is a client all the same.
const onlyStreams = (input, init = {}) => {
  const headers = new Headers(init.headers);
  headers.set('Accept', 'text/event-stream');
  return fetch(input, { ...init, headers });
};

async function connect(token) {
  const headers = token ? { Authorization: `Bearer ${token}` } : {};
  const client = new Client({ name: 'story', version: '1' });
  const how = { requestInit: { headers }, ...(form === 'sse' ? { fetch: onlyStreams } : {}) };
  const transport = new StreamableHTTPClientTransport(new URL(url), how);
  await client.connect(transport);
  say({ protocol: transport.protocolVersion, instructions: client.getInstructions() });
  return client;
}

const obey = {
  tools: async (client) => await client.listTools(),
  call: async (client, { tool, arguments: given }) => await client.callTool({ name: tool, arguments: given }),
};

let client = await connect('');
for await (const line of createInterface({ input: process.stdin })) {
  const command = JSON.parse(line);
  if (command.cmd === 'connect') {
    await client.close();
    client = await connect(command.token);
    continue;
  }
  try {
    say(await obey[command.cmd](client, command));
  } catch (error) {
    say({ error: String(error) });
  }
}
await client.close();
