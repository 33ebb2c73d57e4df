// A picture that fits: what is too large is drawn smaller in the browser before it is sent.
import { t } from '../../ui/i18n.js';

export const mostBytes = 512 * 1024;
const mostSide = 2400; // px

/** @type {(canvas: HTMLCanvasElement, type: string, quality?: number) => Promise<Blob>} */
const coded = (canvas, type, quality) => new Promise((done) => canvas.toBlob(done, type, quality));

// fitting gives a file that the controller takes: an SVG as it is, a PNG or JPEG smaller if need be. It fails with a reason for
// people.
/** @type {(file: File) => Promise<Blob>} */
export async function fitting(file) {
  if (file.type === 'image/svg+xml' || /\.svg$/i.test(file.name)) {
    if (file.size > mostBytes) throw new Error(t('floor.large'));
    return new Blob([await file.arrayBuffer()], { type: 'image/svg+xml' });
  }
  if (file.type === 'application/pdf' || /\.pdf$/i.test(file.name)) throw new Error(t('floor.pdf'));
  let image;
  try {
    image = await createImageBitmap(file);
  } catch {
    throw new Error(t('floor.unreadable'));
  }
  const taken = ['image/png', 'image/jpeg'].includes(file.type);
  if (taken && file.size <= mostBytes && Math.max(image.width, image.height) <= mostSide) return file;
  for (let side = Math.min(mostSide, Math.max(image.width, image.height)); side >= 400; side = Math.round(side * 0.75)) {
    const by = side / Math.max(image.width, image.height);
    const canvas = document.createElement('canvas');
    Object.assign(canvas, { width: Math.round(image.width * by), height: Math.round(image.height * by) });
    const ctx = canvas.getContext('2d');
    ctx.fillStyle = '#fff';
    ctx.fillRect(0, 0, canvas.width, canvas.height);
    ctx.drawImage(image, 0, 0, canvas.width, canvas.height);
    for (const [type, quality] of [['image/png', undefined], ['image/jpeg', 0.85]]) {
      const blob = await coded(canvas, /** @type {string} */ (type), /** @type {number} */ (quality));
      if (blob && blob.size <= mostBytes) return blob;
    }
  }
  throw new Error(t('floor.large'));
}
