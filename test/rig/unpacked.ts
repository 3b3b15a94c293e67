import { constants, gunzipSync } from "node:zlib";

const GZIP = Buffer.from([0x1f, 0x8b, 0x08]);

/** What the worker tells Temporal, of which it compresses each message by itself. */
export function unpacked(bytes: Buffer): string {
  const texts = [bytes.toString("latin1")];
  for (let at = bytes.indexOf(GZIP); at >= 0; at = bytes.indexOf(GZIP, at + 1)) {
    try {
      // What follows belongs to another message, and the end of a long one comes later.
      texts.push(gunzipSync(bytes.subarray(at), { finishFlush: constants.Z_SYNC_FLUSH }).toString("latin1"));
    } catch {
      // These three bytes began no message.
    }
  }
  return texts.join("\n");
}
