/** A name, a colon, and 32 bytes in base64. */
const FORM = /^([A-Za-z0-9._-]{1,64}):([A-Za-z0-9+/]{43}=)$/;

/** What is wrong with a key as it is written, never showing it; undefined where nothing is. */
export function payloadKeyProblem(written: string): string | undefined {
  if (FORM.test(written)) return undefined;
  return `expected id:key, an id of up to 64 letters, digits, dots, underscores and hyphens, and a key of 32 bytes in base64 (\`openssl rand -base64 32\` makes one); found ${written.length} other characters (not shown)`;
}

/** The id of a key that is written well. */
export function payloadKeyId(written: string): string {
  return written.split(":", 1)[0] ?? "";
}

/**
 * The keys by their ids, in their order.
 * @throws Error that never shows a key
 */
export function payloadKeys(written: readonly string[]): Map<string, Buffer> {
  const keys = new Map<string, Buffer>();
  for (const [index, text] of written.entries()) {
    const [, id, key] = FORM.exec(text) ?? [];
    if (id === undefined || key === undefined) throw new Error(`Payload key ${index + 1}: ${payloadKeyProblem(text)}`);
    if (keys.has(id)) throw new Error(`Payload key ${index + 1}: the id "${id}" is given twice`);
    keys.set(id, Buffer.from(key, "base64"));
  }
  return keys;
}
