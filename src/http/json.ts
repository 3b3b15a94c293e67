/** Nothing that the services' documents show has more than eight. */
const DEEPEST_NESTING = 100;
export const TOO_DEEP = `nested deeper than ${DEEPEST_NESTING} levels`;

const QUOTE = 0x22;
const PLUS = 0x2b;
const MINUS = 0x2d;
const DOT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const UPPER_E = 0x45;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const LOWER_E = 0x65;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

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
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === QUOTE) index = endOfString(text, index);
    else if (code === OPEN_LIST || code === OPEN_OBJECT) {
      level += 1;
      if (isDeeperThanRead(level)) return true;
    } else if (code === CLOSE_LIST || code === CLOSE_OBJECT) level -= 1;
  }
  return false;
}

function withLargeNumbersAsTexts(text: string): string {
  let copied = 0;
  const parts: string[] = [];
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === QUOTE) index = endOfString(text, index);
    else if (code === MINUS || isDigit(code)) {
      const end = endOfNumber(text, index);
      const digits = text.slice(index, end);
      if (isBeyondNumbers(digits)) {
        parts.push(text.slice(copied, index), `"${digits}"`);
        copied = end;
      }
      index = end - 1;
    }
  }
  return `${parts.join("")}${text.slice(copied)}`;
}

/** The place of the closing quote; the text's end where there is none. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end === -1 ? text.length : end;
}

function isEscaped(text: string, at: number): boolean {
  let first = at;
  while (text.charCodeAt(first - 1) === BACKSLASH) first -= 1;
  return (at - first) % 2 === 1;
}

function endOfNumber(text: string, start: number): number {
  let end = start + 1;
  while (end < text.length && isOfNumber(text.charCodeAt(end))) end += 1;
  return end;
}

function isOfNumber(code: number): boolean {
  return isDigit(code) || code === DOT || code === LOWER_E || code === UPPER_E || code === PLUS || code === MINUS;
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE;
}

/** The shortest has 16 digits. */
function isBeyondNumbers(digits: string): boolean {
  return digits.length >= 16 && /^-?[1-9]\d*$/.test(digits) && !Number.isSafeInteger(Number(digits));
}

/** Of a JSON object; undefined where the value is none, or does not have it. */
export function field(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Record<string, unknown>)[name];
}
