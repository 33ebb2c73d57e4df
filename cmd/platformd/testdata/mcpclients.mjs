// The official TypeScript clients list and call all tools, which they hold to their output schemas, at a version with
// initialize and at the newest one.
const url = new URL(process.argv[2]);
const headers = { 'X-API-Key': process.env.KEY };
const calls = {
  chat: { message: 'how many lights are there?' }, query: { query: 'which shades are installed', dataType: 'devices' },
  optimize: { target: 'comfort' }, get_status: {},
  places: { sort: 'brightest', limit: 2 }, lights: { place: 'Lobby' }, shades: {}, meters: {},
  energy: { by: 'hour', from: '2026-11-17T00:00:00+01:00', to: '2026-11-18T00:00:00+01:00' },
  faults: {}, ledger: {}, capabilities: {},
  order: { things: 'lights', do: 'off', places: ['Lobby'] },
};
async function walk(name, client, version) {
  const tools = (await client.listTools()).tools.map((t) => t.name).sort().join(' ');
  const expected = 'capabilities chat energy faults get_status ledger lights meters optimize order places query shades';
  if (tools !== expected) throw new Error(`${name}: tools are ${tools}`);
  for (const [tool, args] of Object.entries(calls)) {
    const r = await client.callTool({ name: tool, arguments: args });
    if (r.isError || r.content[0].type !== 'text' || !r.content[0].text) throw new Error(`${name} ${tool}: ${JSON.stringify(r)}`);
    console.log(`${name} ${version()} ${tool}: ${r.content[0].text.slice(0, 100).replaceAll('\n', ' ')}`);
  }
  const prompts = (await client.listPrompts()).prompts.map((p) => p.name);
  for (const p of prompts) await client.getPrompt({ name: p, arguments: { site: 'Harbour House' } });
  console.log(`${name} ${version()} prompts: ${prompts.join(' ')}`);
  const strict = await client.callTool({ name: 'lights', arguments: { zone: 'Lobby' } });
  if (!strict.isError) throw new Error(`${name}: an unknown argument was taken`);
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
