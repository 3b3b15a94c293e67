const MAX_SHOWN_LENGTH = 60;
/**
 * Beginnings of keys of both services, of Temporal's (a JWT) and of private keys; and what carries a password in a URL.
 */
const LOOKS_SECRET = /cmp_sk_|sk_(development|production)_|\bcs_|whsec_|eyJ[\w-]{10}|-----BEGIN|:\/\/[^/]*@/;

/** How a value that was found is quoted in a problem. A key in the wrong place is not quoted. */
export function showFound(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "an object";
  const text = JSON.stringify(value) ?? typeof value;
  if (LOOKS_SECRET.test(text)) return "what looks like a key or a password (not shown)";
  return text.length > MAX_SHOWN_LENGTH ? `${text.slice(0, MAX_SHOWN_LENGTH)}…` : text;
}
