// A pair of keys for backups, as age-keygen makes it (age, X25519), in the browser: the secret one never leaves it.

const letters = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';

// sum is the checksum of Bech32 (BIP 173).
function sum(values) {
  let c = 1;
  for (const v of values) {
    const top = c >>> 25;
    c = ((c & 0x1ffffff) << 5) ^ v;
    [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3].forEach((g, i) => {
      if ((top >>> i) & 1) c ^= g;
    });
  }
  return c;
}

// bech32 writes bytes as text, with what they are before it.
/** @type {(what: string, bytes: Uint8Array) => string} */
export function bech32(what, bytes) {
  const data = [];
  let held = 0,
    bits = 0;
  for (const b of bytes) {
    held = ((held << 8) | b) & 0xfff;
    for (bits += 8; bits >= 5; data.push((held >>> bits) & 31)) bits -= 5;
  }
  if (bits) data.push((held << (5 - bits)) & 31);
  const codes = [...what].map((c) => c.charCodeAt(0));
  const before = [...codes.map((c) => c >>> 5), 0, ...codes.map((c) => c & 31)];
  const check = sum([...before, ...data, 0, 0, 0, 0, 0, 0]) ^ 1;
  for (let i = 0; i < 6; i++) data.push((check >>> (5 * (5 - i))) & 31);
  return what + '1' + data.map((v) => letters[v]).join('');
}

// makeKey is null where the browser cannot.
/** @type {() => Promise<{ pub: string, secret: string } | null>} */
export async function makeKey() {
  try {
    const pair = /** @type {CryptoKeyPair} */ (await crypto.subtle.generateKey({ name: 'X25519' }, true, ['deriveBits']));
    const pub = new Uint8Array(await crypto.subtle.exportKey('raw', pair.publicKey));
    const secret = new Uint8Array(await crypto.subtle.exportKey('pkcs8', pair.privateKey)).slice(-32); // RFC 8410
    return { pub: bech32('age', pub), secret: bech32('age-secret-key-', secret).toUpperCase() };
  } catch {
    return null;
  }
}
