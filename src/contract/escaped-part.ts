const LONE_SURROGATE = /^[\uD800-\uDFFF]$/u;

/**
 * A part of a name, escaped as a URI component. Half of a surrogate pair has no such escape (`encodeURIComponent`
 * throws), and an id that came in somebody's JSON may hold one: it is written `%uD800`, which no escape of other text
 * is.
 */
export function escapedPart(text: string): string {
  return text.replace(/[\uD800-\uDFFF]|[^\uD800-\uDFFF]+/gu, (run) =>
    LONE_SURROGATE.test(run) ? `%u${run.charCodeAt(0).toString(16).toUpperCase()}` : encodeURIComponent(run),
  );
}
