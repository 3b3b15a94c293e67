import { printParseErrorCode, visit } from "jsonc-parser";

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
const VALUE = "expected a value: an object, a list, a string, a number, true, false or null";
const KEY = "expected a key in double quotes, or }";
const BAD_STRING = "a string that is not closed, or holds a bad escape";
/** Of the parser's errors, those that say more than what was expected in their place. */
const BY_CODE: Readonly<Record<string, string>> = {
  InvalidCommentToken: "JSON has no comments",
  UnexpectedEndOfComment: "a comment that is not closed",
  UnexpectedEndOfString: BAD_STRING,
  InvalidUnicode: BAD_STRING,
  InvalidEscapeCharacter: BAD_STRING,
  InvalidCharacter: BAD_STRING,
};

/** An object, with its keys so far, or a list. */
interface Container {
  keys?: Set<string>;
  values: unknown[];
}

class SyntaxProblem extends Error {
  override readonly name = "SyntaxProblem";
  readonly problem: JsonSyntaxProblem;
  constructor(message: string, line: number, character: number) {
    super(message);
    this.problem = { line: line + 1, column: character + 1, message };
  }
}

/**
 * JSON with comments and trailing commas, so that the commented example can be used as it is; `strict` allows neither.
 * `JSON.parse` does not do: its messages quote the text, which may hold a secret, and it silently takes the last of two
 * equal keys.
 */
export function parseJsonc(text: string, { strict = false } = {}): JsonReading {
  const source = text.replace(/^\uFEFF/, "");
  const open: Container[] = [];
  let root: unknown;
  let expected = VALUE;
  /** What was expected before the innermost container ended: the parser ends it before it misses its bracket. */
  let expectedInside = VALUE;
  let lastComma: [number, number] | undefined;

  function add(value: unknown): void {
    const container = open.at(-1);
    if (container === undefined) root = value;
    else container.values.push(value);
    expected = container ? `expected a comma or ${container.keys ? "}" : "]"}` : "expected nothing after the value";
    lastComma = undefined;
  }
  function begin(container: Container, line: number, character: number): void {
    if (open.length > MAX_DEPTH) throw new SyntaxProblem(`nested deeper than ${MAX_DEPTH}`, line, character);
    open.push(container);
    expected = container.keys ? KEY : VALUE;
  }
  function end(): void {
    expectedInside = expected;
    const { keys, values } = open.pop() ?? { values: [] };
    add(keys ? Object.fromEntries([...keys].map((key, index) => [key, values[index]])) : values);
  }
  try {
    visit(
      source,
      {
        onObjectBegin: (_offset, _length, line, character) => begin({ keys: new Set(), values: [] }, line, character),
        onArrayBegin: (_offset, _length, line, character) => begin({ values: [] }, line, character),
        onObjectEnd: end,
        onArrayEnd: end,
        onLiteralValue: add,
        onObjectProperty: (key, _offset, _length, line, character) => {
          const keys = open.at(-1)?.keys;
          if (keys?.has(key)) throw new SyntaxProblem("this key stands twice in its object", line, character);
          keys?.add(key);
          expected = "expected a colon after the key";
        },
        onSeparator: (separator, _offset, _length, line, character) => {
          expected = separator === "," && open.at(-1)?.keys ? KEY : VALUE;
          lastComma = separator === "," ? [line, character] : undefined;
        },
        onError: (code, offset, _length, line, character) => {
          if (strict && lastComma !== undefined && /[\]}]/.test(source.charAt(offset)))
            throw new SyntaxProblem("expected another member after the comma", ...lastComma);
          const name = printParseErrorCode(code);
          const unclosed = name === "CloseBraceExpected" || name === "CloseBracketExpected";
          throw new SyntaxProblem(BY_CODE[name] ?? (unclosed ? expectedInside : expected), line, character);
        },
      },
      { disallowComments: strict, allowTrailingComma: !strict },
    );
    return { ok: true, value: root };
  } catch (error) {
    if (error instanceof SyntaxProblem) return { ok: false, problem: error.problem };
    throw error;
  }
}
