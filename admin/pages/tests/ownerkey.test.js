import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bech32, makeKey } from '../app/ownerkey.js';

test('a key is written as age writes it', () => {
  // the key of age's own test vectors
  const key = bech32('age-secret-key-', new Uint8Array(32).fill(0x42)).toUpperCase();
  assert.equal(key, 'AGE-SECRET-KEY-1GFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPQ4EGAEX');
});

test('each pair is another', async () => {
  const one = await makeKey(),
    other = await makeKey();
  assert.match(one.pub, /^age1[02-9ac-hj-np-z]{58}$/);
  assert.match(one.secret, /^AGE-SECRET-KEY-1[02-9AC-HJ-NP-Z]{58}$/);
  assert.notEqual(one.secret, other.secret);
});
