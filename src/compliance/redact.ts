const KEY_LIKE = /cmp_sk_(test|live)_[^\s"'<>]*/g;
/** Slashes may be escaped, as some JSON writers do. */
const URL_LIKE = /\b(https?):(?:\\?\/){2}([^\s"'<>]*)/gi;

/**
 * Takes out of a text what no message may hold: keys, and everything of a URL besides its host, since the path of a
 * callback URL is its token and the API may quote it.
 */
export function redact(text: string): string {
  return text
    .replaceAll(KEY_LIKE, (_key, kind: string) => `cmp_sk_${kind}_…`)
    .replaceAll(URL_LIKE, (_url, scheme: string, rest: string) => {
      const authority = rest.split(/[\\/?#]/, 1)[0] ?? "";
      return `${scheme}://${authority.slice(authority.lastIndexOf("@") + 1)}/…`;
    });
}

/** The same for every string inside a JSON value. */
export function redactDeep(value: unknown): unknown {
  if (typeof value === "string") return redact(value);
  if (Array.isArray(value)) return value.map(redactDeep);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, redactDeep(inner)]));
}

const EXCERPT_LENGTH = 500;

export function excerpt(bodyText: string): string {
  const text = redact(bodyText.slice(0, 4 * EXCERPT_LENGTH));
  return text.length <= EXCERPT_LENGTH ? text : `${text.slice(0, EXCERPT_LENGTH - 1)}…`;
}
