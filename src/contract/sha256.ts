/**
 * SHA-256 (FIPS 180-4) in plain JavaScript, because Temporal's workflow sandbox has no `crypto`.
 * For names and fingerprints only: it is not constant in time and must never see a secret.
 */

const ROUND_CONSTANTS = firstPrimes(64).map((prime) => fractionBits(Math.cbrt(prime)));
const INITIAL_STATE = firstPrimes(8).map((prime) => fractionBits(Math.sqrt(prime)));

/** The digest of the text's UTF-8 bytes as 64 lower-case hex digits. */
export function sha256Hex(text: string): string {
  const blocks = padded(new TextEncoder().encode(text));
  const state = [...INITIAL_STATE];
  for (let offset = 0; offset < blocks.byteLength; offset += 64) {
    compress(state, new DataView(blocks.buffer, offset, 64));
  }
  return state.map((word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
}

function compress(state: number[], block: DataView): void {
  const schedule: number[] = [];
  for (let i = 0; i < 64; i++) {
    if (i < 16) {
      schedule.push(block.getUint32(i * 4));
      continue;
    }
    const w15 = at(schedule, i - 15);
    const w2 = at(schedule, i - 2);
    const s0 = rotateRight(w15, 7) ^ rotateRight(w15, 18) ^ (w15 >>> 3);
    const s1 = rotateRight(w2, 17) ^ rotateRight(w2, 19) ^ (w2 >>> 10);
    schedule.push((at(schedule, i - 16) + s0 + at(schedule, i - 7) + s1) | 0);
  }
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state;
  for (let i = 0; i < 64; i++) {
    const s1 = rotateRight(e, 6) ^ rotateRight(e, 11) ^ rotateRight(e, 25);
    const choice = (e & f) ^ (~e & g);
    const t1 = (h + s1 + choice + at(ROUND_CONSTANTS, i) + at(schedule, i)) | 0;
    const s0 = rotateRight(a, 2) ^ rotateRight(a, 13) ^ rotateRight(a, 22);
    const majority = (a & b) ^ (a & c) ^ (b & c);
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + t1) | 0, c, b, a, (t1 + s0 + majority) | 0];
  }
  [a, b, c, d, e, f, g, h].forEach((word, i) => (state[i] = (at(state, i) + word) | 0));
}

/** The message, a one bit, zeros, and its length in bits as 64 bits. */
function padded(message: Uint8Array): Uint8Array<ArrayBuffer> {
  const length = Math.ceil((message.length + 9) / 64) * 64;
  const out = new Uint8Array(length);
  out.set(message);
  out[message.length] = 0x80;
  const view = new DataView(out.buffer);
  view.setUint32(length - 8, Math.floor((message.length * 8) / 2 ** 32));
  view.setUint32(length - 4, (message.length * 8) >>> 0);
  return out;
}

function rotateRight(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits));
}

function at(words: readonly number[], index: number): number {
  return words[index] ?? 0;
}

/** The first 32 bits of the fractional part, as FIPS 180-4 derives its constants. */
function fractionBits(value: number): number {
  return ((value - Math.floor(value)) * 2 ** 32) | 0;
}

function firstPrimes(count: number): number[] {
  const primes: number[] = [];
  for (let n = 2; primes.length < count; n++) {
    if (primes.every((prime) => n % prime !== 0)) primes.push(n);
  }
  return primes;
}
