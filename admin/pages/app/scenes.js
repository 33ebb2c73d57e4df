// Scenes: what a room, or the whole building, can be made to be with one touch.
import { html, useState } from '../ui/lib.js';
import { t, byName } from '../ui/i18n.js';
import { done } from '../ui/shell.js';
import { Icon } from '../ui/icons.js';
import { house, server, may } from './house.js';

// Scenes of a cluster, or of the building (0), as buttons.
export function Scenes({ cluster = 0, children }) {
  const [busy, setBusy] = useState(0);
  const list = house.scenes.value.filter((s) => s.cluster === cluster).sort(byName);
  if (!may('operate') || (!list.length && !children)) return null;
  const recall = async (s) => {
    setBusy(s.id);
    try {
      const r = await server.post(`/scenes/${s.id}/recall`);
      done(r.ok ? t('scene.done', { name: s.name }) : r.error);
    } catch (p) {
      done(p.message);
    }
    setBusy(0);
  };
  return html`
    <section class="stack tight">
      <h2 class=${cluster ? undefined : 'reader'}>${t('scenes')}</h2>
      <div class="chips">
        ${list.map(
          (s) => html`
            <button type="button" class="chip" key=${s.id} disabled=${busy === s.id} onClick=${() => recall(s)}>
              <${Icon} name="scene" size=${18} />
              <bdi>${s.name}</bdi>
            </button>`,
        )}
        ${children}
      </div>
    </section>`;
}
