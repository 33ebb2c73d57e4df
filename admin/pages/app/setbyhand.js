// What rules leave alone in a room for a while, because somebody set it by hand.
import { html } from '../ui/lib.js';
import { t, time } from '../ui/i18n.js';
import { Notice, done } from '../ui/shell.js';
import { server, may } from './house.js';
import { useServer } from './useserver.js';

export function SetByHand({ cluster: c }) {
  const { data, again } = useServer('/overrides');
  const here = (data || []).filter((o) => c.nodes.includes(o.node) || c.shades.includes(o.shade));
  if (!here.length) return null;
  const last = here.reduce((a, b) => (a.at > b.at ? a : b));
  const release = async () => {
    try {
      await server.del(`/clusters/${c.id}/override`);
      done(t('hand.released'));
    } catch (p) {
      done(p.message);
    }
    again();
  };
  return html`
    <${Notice} icon="info">
      <div class="row">
        <p class="grow">${t('hand', { who: last.who, time: time(Date.parse(last.at)) })}</p>
        ${may('operate') && html`<button class="button" onClick=${release}>${t('hand.release')}</button>`}
      </div>
    <//>`;
}
