// What the usual MCP clients need, with the key filled in.
import { html, useState } from '../ui/lib.js';
import { t } from '../ui/i18n.js';
import { Page } from '../ui/router.js';
import { Notice } from '../ui/shell.js';
import { Snippet } from './copy.js';

const json = (v) => JSON.stringify(v, null, 2);
const clients = {
  'Claude Code': (url, key) => `claude mcp add --transport http building ${url} --header "X-API-Key: ${key}"`,
  'VS Code · .vscode/mcp.json': (url, key) =>
    json({ servers: { building: { type: 'http', url, headers: { 'X-API-Key': key } } } }),
  'Cursor · .cursor/mcp.json': (url, key) => json({ mcpServers: { building: { url, headers: { 'X-API-Key': key } } } }),
  'Claude Desktop · claude_desktop_config.json': (url, key) =>
    json({
      mcpServers: {
        building: { command: 'npx', args: ['-y', 'mcp-remote', url, '--header', 'X-API-Key:${KEY}'], env: { KEY: key } },
      },
    }),
  'MCP Inspector': (url, key) =>
    `npx @modelcontextprotocol/inspector --cli ${url} --transport http --header "X-API-Key: ${key}" --method tools/list`,
  curl: (url, key) => `curl ${url} -H "X-API-Key: ${key}" -H "Content-Type: application/json" -d '{"method":"tools/list"}'`,
};

export const Clients = ({ value }) => html`
  <section class="panel">
    <h2>${t('connect')}</h2>
    <p>${t('connect.text')}</p>
    ${Object.entries(clients).map(
      ([name, f]) => html`
        <div class="stack tight" key=${name}>
          <h3>${name}</h3>
          <${Snippet} label=${name} text=${f(location.origin + '/api/assistant/mcp', value)} />
        </div>`,
    )}
    <p class="sub">${t('connect.budget')}</p>
  </section>`;

export default function Connect() {
  const [key, setKey] = useState('');
  const odd = key && !/^svc_[0-9a-f]{64}$/.test(key);
  return html`
    <${Page} title=${t('connect')} sub=${t('connect.sub')} back=${{ href: '/more', text: t('more') }}>
      <section class="panel">
        <div class="field">
          <label for="key">${t('connect.key')}</label>
          <span class="hint" id="keyh">${t('connect.key.hint')}</span>
          <input id="key" class="input code" autocomplete="off" spellcheck="false" aria-describedby="keyh" value=${key}
            onInput=${(e) => setKey(e.target.value.trim())} />
        </div>
        <div role="status">${odd && html`<${Notice} kind="warn">${t('connect.key.odd')}<//>`}</div>
        <p><a href="/keys">${t('connect.make')}</a></p>
      </section>
      <${Clients} value=${key || 'svc_…'} />
    <//>`;
}
