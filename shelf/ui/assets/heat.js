// A map of values by the hours of a day: a table whose figures a screen reader reads, and whose cells are coloured.
import { html, sheet } from './lib.js';
import { Table } from './shell.js';

await sheet(new URL('heat.css', import.meta.url).href);
const hours = Array.from({ length: 24 }, (_, h) => h);

/**
 * HeatMap has a row for each of rows; m is what of the strongest a cell has, 0 to 100, null: not known. The rows' names are long
 * if named says so.
 * @param {{ label: string, corner: string, named?: boolean,
 *   rows: { key: string | number, name: string, title: string, cells: { m: number, words: string }[] }[] }} props
 */
export const HeatMap = ({ label, corner, named = false, rows }) => html`
  <div class=${named ? 'heat named' : 'heat'}>
    <${Table} label=${label}>
      <thead>
        <tr>
          <th><span class="reader">${corner}</span></th>
          ${hours.map((h) => html`<th key=${h} scope="col"><span class=${h % 6 ? 'reader' : ''}>${h}</span></th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (row) => html`
            <tr key=${row.key}>
              <th scope="row">${row.name}</th>
              ${row.cells.map(
                (c, h) => html`
                  <td key=${h} title=${`${row.title}, ${h}–${h + 1} h: ${c.words}`} data-known=${c.m == null ? undefined : ''}
                    style=${{ '--m': c.m ?? 0 }}><span class="reader">${c.words}</span></td>`,
              )}
            </tr>`,
        )}
      </tbody>
    <//>
  </div>`;
