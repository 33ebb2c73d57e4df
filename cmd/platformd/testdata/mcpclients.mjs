// The official TypeScript clients list and call all four tools, at a version with initialize and at the newest one.
const url = new URL(process.argv[2]);
const headers = { 'X-API-Key': process.env.KEY };
const calls = {
  chat: { message: 'how many lights are there?' }, query: { query: 'which shades are installed', dataType: 'devices' },
  optimize: { target: 'comfort' }, get_status: {},
};
async function walk(name, client, version) {
  const tools = (await client.listTools()).tools.map((t) => t.name).sort().join(' ');
  if (tools !== 'chat get_status optimize query') throw new Error(`${name}: tools are ${tools}`);
  for (const [tool, args] of Object.entries(calls)) {
    const r = await client.callTool({ name: tool, arguments: args });
    if (r.isError || r.content[0].type !== 'text' || !r.content[0].text) throw new Error(`${name} ${tool}: ${JSON.stringify(r)}`);
    console.log(`${name} ${version()} ${tool}: ${r.content[0].text.slice(0, 100).replaceAll('\n', ' ')}`);
  }
  const bad = await client.callTool({ name: 'query', arguments: { query: 'x', dataType: 'weather' } });
  if (!bad.isError) throw new Error(`${name}: a wrong argument was taken`);
  const unknown = await client.callTool({ name: 'reboot', arguments: {} }).then(() => 'taken', () => 'refused');
  if (unknown !== 'refused') throw new Error(`${name}: an unknown tool was called`);
  await client.close();
}
{
  const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
  const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js');
  const t = new StreamableHTTPClientTransport(url, { requestInit: { headers } });
  const c = new Client({ name: 'test', version: '1' });
  await c.connect(t);
  await walk('sdk', c, () => t.protocolVersion);
}
const m = await import('@modelcontextprotocol/client');
for (const options of [{}, { versionNegotiation: { mode: 'auto' } }]) {
  const t = new m.StreamableHTTPClientTransport(url, { requestInit: { headers } });
  const c = new m.Client({ name: 'test', version: '1' }, options);
  await c.connect(t);
  await walk('client', c, () => c.getNegotiatedProtocolVersion?.() ?? t.protocolVersion);
}
const refused = await fetch(url, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{"method":"tools/list"}' });
if (refused.status !== 401) throw new Error('without a key: ' + refused.status);
