/** Where and why a text is not JSON. */
interface JsonSyntaxProblem {
  /** From 1. */
  line: number;
  /** From 1, in UTF-16 units. */
  column: number;
  /** What was expected; never quotes the text, which may hold a secret. */
  message: string;
}

export type JsonReading = { ok: true; value: unknown } | { ok: false; problem: JsonSyntaxProblem };

const MAX_DEPTH = 64;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
// oxlint-disable-next-line no-control-regex -- JSON forbids unescaped control characters in strings
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const SPACE = /(?:[ \t\r\n]|\/\/[^\r\n]*|\/\*[\s\S]*?\*\/)*/y;
const WORD = /true|false|null/y;

class SyntaxProblem extends Error {
  override readonly name = "SyntaxProblem";
  readonly offset: number;
  constructor(offset: number, message: string) {
    super(message);
    this.offset = offset;
  }
}

/**
 * JSON with comments and trailing commas, so that the commented example can be used as it is. `JSON.parse` does not
 * do: its messages quote the text, which may hold a secret, and it silently takes the last of two equal keys.
 */
export function parseJsonc(text: string): JsonReading {
  const source = text.startsWith("\uFEFF") ? text.slice(1) : text;
  const reader = createReader(source);
  try {
    const value = reader.value(0);
    reader.end();
    return { ok: true, value };
  } catch (error) {
    if (!(error instanceof SyntaxProblem)) throw error;
    const before = source.slice(0, error.offset).split(/\r\n|\r|\n/);
    return {
      ok: false,
      problem: { line: before.length, column: (before.at(-1)?.length ?? 0) + 1, message: error.message },
    };
  }
}

function createReader(source: string) {
  let offset = 0;

  function fail(message: string): never {
    throw new SyntaxProblem(offset, message);
  }
  function match(pattern: RegExp): string | undefined {
    pattern.lastIndex = offset;
    const found = pattern.exec(source)?.[0];
    if (found !== undefined) offset += found.length;
    return found;
  }
  function take(character: string): boolean {
    match(SPACE);
    if (source[offset] !== character) return false;
    offset += 1;
    return true;
  }
  function string(expected: string): string {
    match(SPACE);
    const found = match(STRING);
    if (found !== undefined) return String(JSON.parse(found));
    return fail(source[offset] === '"' ? "a string that is not closed, or holds a bad escape" : `expected ${expected}`);
  }
  /** What stands between an opening bracket, already taken, and its closing one. */
  function members(closing: string, member: () => void): void {
    while (!take(closing)) {
      member();
      if (take(",")) continue;
      if (!take(closing)) fail(`expected a comma or ${closing}`);
      return;
    }
  }
  function object(depth: number): unknown {
    const entries = new Map<string, unknown>();
    members("}", () => {
      match(SPACE);
      const keyOffset = offset;
      const key = string("a key in double quotes, or }");
      if (entries.has(key)) {
        offset = keyOffset;
        fail("this key stands twice in its object");
      }
      if (!take(":")) fail("expected a colon after the key");
      entries.set(key, value(depth + 1));
    });
    return Object.fromEntries(entries);
  }
  function list(depth: number): unknown {
    const values: unknown[] = [];
    members("]", () => values.push(value(depth + 1)));
    return values;
  }
  function value(depth: number): unknown {
    if (depth > MAX_DEPTH) fail(`nested deeper than ${MAX_DEPTH}`);
    if (take("{")) return object(depth);
    if (take("[")) return list(depth);
    if (source[offset] === '"') return string("a string");
    const word = match(WORD) ?? match(NUMBER);
    if (word === undefined) return fail("expected a value: an object, a list, a string, a number, true, false or null");
    return JSON.parse(word);
  }
  function end(): void {
    match(SPACE);
    if (offset < source.length) fail("expected nothing after the value");
  }
  return { value, end };
}
