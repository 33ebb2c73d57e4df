// Shapes in one stroke width. An icon says nothing that words beside it do not say, so readers skip it.
import { html } from './lib.js';

const shapes = {
  home: 'M4 11 12 4l8 7v8a1 1 0 0 1-1 1h-4v-6H9v6H5a1 1 0 0 1-1-1z',
  devices: 'M9 18h6M10 21h4M12 3a6 6 0 0 1 3.5 10.9c-.5.4-.8 1-.8 1.6H9.3c0-.6-.3-1.2-.8-1.6A6 6 0 0 1 12 3z',
  sun: 'M12 3v2M12 19v2M3 12h2M19 12h2M5.6 5.6 7 7M17 17l1.4 1.4M5.6 18.4 7 17M17 7l1.4-1.4M12 8a4 4 0 1 1 0 8 4 4 0 0 1 0-8z',
  scene: 'M12 3l2.2 5.8L20 11l-5.8 2.2L12 19l-2.2-5.8L4 11l5.8-2.2z',
  rules: 'M12 8v4l3 2M12 4a8 8 0 1 1 0 16 8 8 0 0 1 0-16z',
  buses: 'M4 7h16M4 17h16M8 7v4M16 7v4M8 13v4M16 13v4',
  more: 'M5 12h.01M12 12h.01M19 12h.01',
  arrow: 'M5 12h13M13 7l5 5-5 5',
  plane: 'M21 4 3 11l7 3 3 7zM10 14l4-4',
  clock: 'M12 8v4l3 2M12 4a8 8 0 1 1 0 16 8 8 0 0 1 0-16z',
  plug: 'M4 4l16 16M9 4v4M15 4v3M7 8h1M12 8h5v3a5 5 0 0 1-1.3 3.4M7.5 10.5V11a5 5 0 0 0 5 5M12 16v5',
  triangle: 'M12 4 2.5 20h19zM12 10v4M12 17h.01',
  info: 'M12 11v5M12 8h.01M12 3a9 9 0 1 1 0 18 9 9 0 0 1 0-18z',
  up: 'M6 14l6-6 6 6',
  down: 'M6 10l6 6 6-6',
  stop: 'M7 7h10v10H7z',
  left: 'M14 6l-6 6 6 6',
  right: 'M10 6l6 6-6 6',
  search: 'M11 4a7 7 0 1 1 0 14 7 7 0 0 1 0-14zM16.5 16.5 21 21',
  plus: 'M12 5v14M5 12h14',
  check: 'M5 12.5 10 17.5 19 7',
  close: 'M6 6l12 12M18 6 6 18',
  blink:
    'M12 3v3M12 18v3M3 12h3M18 12h3M5.6 5.6l2.1 2.1M16.3 16.3l2.1 2.1M5.6 18.4l2.1-2.1M16.3 7.7l2.1-2.1M12 9a3 3 0 1 1 0 6 3 3 0 0 1 0-6z',
  print: 'M7 8V3h10v5M7 17H4v-8h16v8h-3M7 14h10v7H7z',
  user: 'M12 4a4 4 0 1 1 0 8 4 4 0 0 1 0-8zM4 21c0-4 3.5-6 8-6s8 2 8 6',
  key: 'M8 9a5 5 0 1 1 0 6.2A5 5 0 0 1 8 9zM13 12h9v4M18 12v3',
  shield: 'M12 3l8 3v6c0 5-3.5 8-8 9-4.5-1-8-4-8-9V6z',
  box: 'M4 8l8-4 8 4v8l-8 4-8-4zM4 8l8 4 8-4M12 12v8',
  network: 'M9 3h6v5H9zM3 16h6v5H3zM15 16h6v5h-6zM12 8v4M6 16v-4h12v4',
  list: 'M8 6h12M8 12h12M8 18h12M4 6h.01M4 12h.01M4 18h.01',
  pulse: 'M3 12h4l3-7 4 14 3-7h4',
  building: 'M5 21V4h9v17M14 9h5v12M3 21h18M8.5 8h2M8.5 12h2M8.5 16h2',
  chat: 'M5 5h14v11h-7l-4 4v-4H5zM8.5 9h7M8.5 12h4',
  mic: 'M12 3a3 3 0 0 1 3 3v5a3 3 0 0 1-6 0V6a3 3 0 0 1 3-3zM6 11a6 6 0 0 0 12 0M12 17v4M9 21h6',
  out: 'M14 4h5v16h-5M10 8l-4 4 4 4M6 12h9',
  download: 'M12 4v11M7 11l5 5 5-5M5 20h14',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  shade: 'M4 4h16M5 4v16h14V4M5 8h14M5 12h14M12 12v5',
  undo: 'M8 5 4 9l4 4M4 9h10a6 6 0 0 1 0 12h-3',
  book: 'M5 4h9a4 4 0 0 1 4 4v12H8a3 3 0 0 1-3-3zM5 17a3 3 0 0 1 3-3h10',
  plan: 'M4 5l5-2 6 2 5-2v16l-5 2-6-2-5 2zM9 3v16M15 5v16',
  minus: 'M5 12h14',
  fit: 'M4 9V4h5M15 4h5v5M20 15v5h-5M9 20H4v-5',
  drag: 'M9 6h.01M15 6h.01M9 12h.01M15 12h.01M9 18h.01M15 18h.01',
  group: 'M5 5h6v6H5zM13 5h6v6h-6zM5 13h6v6H5zM13 13h6v6h-6z',
};

export function Icon({ name, size = 20 }) {
  return html`
    <svg width=${size} height=${size} viewBox="0 0 24 24" fill="none" stroke="currentColor"
      stroke-width=${name === 'more' || name === 'list' || name === 'drag' ? 2.25 : 1.75} stroke-linecap="round" stroke-linejoin="round"
      aria-hidden="true">
      <path d=${shapes[name]} />
    </svg>`;
}

// Sign of the house, on pages before anybody is logged in.
export const Sign = () => html`
  <svg class="sign" viewBox="0 0 32 32" aria-hidden="true">
    <rect width="32" height="32" rx="8" fill="currentColor" />
    <path d="M9 20.5a7.5 7.5 0 1 1 14 0" fill="none" stroke="#ffd696" stroke-width="3" stroke-linecap="round" />
    <path d="M10 26h12" stroke="#fff" stroke-width="3" stroke-linecap="round" />
  </svg>`;
