// The keys that do something.
import { html } from '../ui/lib.js';
import { t } from '../ui/i18n.js';
import { Page } from '../ui/router.js';

export default function Help() {
  return html`
    <${Page} title=${t('keys.which')} back=${{ href: '/more', text: t('more') }}>
      <section class="panel">
        <dl class="facts">
          ${[
            ['g h', 'home'],
            ['g d', 'devices'],
            ['g b', 'buses'],
            ['g m', 'more'],
            ['/', 'keys.search'],
            ['?', 'keys.which'],
            ['Esc', 'keys.escape'],
          ].map(([keys, key]) => html`<dt>${keys.split(' ').map((k) => html`<kbd>${k}</kbd> `)}</dt><dd>${t(key)}</dd>`)}
        </dl>
        <h2>${t('keys.slider')}</h2>
        <dl class="facts">
          <dt><kbd>←</kbd> <kbd>→</kbd></dt><dd>${t('keys.one')}</dd>
          <dt><kbd>Page ↑</kbd> <kbd>Page ↓</kbd></dt><dd>${t('keys.ten')}</dd>
          <dt><kbd>Home</kbd> <kbd>End</kbd></dt><dd>${t('keys.ends')}</dd>
        </dl>
      </section>
    <//>`;
}
