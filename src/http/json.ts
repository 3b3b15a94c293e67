/** Nothing that the services' documents show has more than eight. */
const DEEPEST_NESTING = 100;
export const TOO_DEEP = `nested deeper than ${DEEPEST_NESTING} levels`;

/**
 * What a text is looked through by, token by token: a quote that no backslash escapes begins or ends a string, and what
 * stands in one counts for nothing. An expression for a whole string overflows at four million escapes.
 */
const BRACKETS = /\\.|["[\]{}]/gs;
const NUMBERS = /\\.|"|[-+.\w]+/gs;

/** A JSON value, or why the text is none that is read. */
export type ParsedJson = { json: unknown } | { problem: string };

/**
 * Reads a text from outside.
 *
 * - Nesting is bounded: what walks over a value later would otherwise end in a RangeError.
 * - A whole number beyond 2^53 becomes a text with its digits: as a number it would be another one, and two ids would
 *   become one. No amount of money is that large.
 */
export function parseJson(text: string): ParsedJson {
  return isTooDeep(text) ? { problem: TOO_DEEP } : parseShallowJson(text);
}

/** The same of a text whose nesting is known to be within {@link isDeeperThanRead}. */
export function parseShallowJson(text: string): ParsedJson {
  try {
    return { json: JSON.parse(/\d{16}/.test(text) ? withLargeNumbersAsTexts(text) : text) as unknown };
  } catch {
    return { problem: "not JSON" };
  }
}

export function isDeeperThanRead(level: number): boolean {
  return level > DEEPEST_NESTING;
}

function isTooDeep(text: string): boolean {
  let level = 0;
  let inString = false;
  for (const [token] of text.matchAll(BRACKETS)) {
    if (token === '"') inString = !inString;
    else if (inString) continue;
    else if (token === "{" || token === "[") level += 1;
    else if (token === "}" || token === "]") level -= 1;
    if (isDeeperThanRead(level)) return true;
  }
  return false;
}

function withLargeNumbersAsTexts(text: string): string {
  let inString = false;
  return text.replaceAll(NUMBERS, (token) => {
    if (token === '"') inString = !inString;
    else if (!inString && /^-?[1-9]\d{15,}$/.test(token) && !Number.isSafeInteger(Number(token))) return `"${token}"`;
    return token;
  });
}

/** Of a JSON object; undefined where the value is none, or does not have it. */
export function field(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Record<string, unknown>)[name];
}
