import { getNodeValue, type Node, type ParseError, parseTree, printParseErrorCode } from "jsonc-parser";

/** Where and why a text is not JSON. */
interface JsonSyntaxProblem {
  /** From 1. */
  line: number;
  /** From 1, in UTF-16 units. */
  column: number;
  /** What was expected; never quotes the text, which may hold a secret. */
  message: string;
}

type JsonReading = { ok: true; value: unknown } | { ok: false; problem: JsonSyntaxProblem };

/** Containers around a value. Who reads the value calls itself for each, too. */
const MOST_LEVELS = 64;
const TOO_DEEP = "nested too deep";
const BAD_STRING = "a string that is not closed, or holds a bad escape";
const VALUE = "expected a value: an object, a list, a string, a number, true, false or null";
/** The parser's errors. */
const MESSAGES: Readonly<Record<string, string>> = {
  InvalidSymbol: "a word that JSON does not have",
  InvalidNumberFormat: "expected a number",
  PropertyNameExpected: "expected a key in double quotes, or }",
  ValueExpected: VALUE,
  ColonExpected: "expected a colon after the key",
  CommaExpected: "expected a comma or the closing bracket",
  CloseBraceExpected: "expected a comma or }",
  CloseBracketExpected: "expected a comma or ]",
  EndOfFileExpected: "expected nothing after the value",
  InvalidCommentToken: "JSON has no comments",
  UnexpectedEndOfComment: "a comment that is not closed",
  UnexpectedEndOfNumber: "expected a number",
  UnexpectedEndOfString: BAD_STRING,
  InvalidUnicode: BAD_STRING,
  InvalidEscapeCharacter: BAD_STRING,
  InvalidCharacter: BAD_STRING,
};

/**
 * JSON with comments and trailing commas, so that the commented example can be used as it is; `strict` allows neither.
 * `JSON.parse` does not do: its messages quote the text, which may hold a secret, and it silently takes the last of two
 * equal keys.
 */
export function parseJsonc(text: string, { strict = false } = {}): JsonReading {
  const source = text.replace(/^\uFEFF/, "");
  const errors: ParseError[] = [];
  const problem = (offset: number, message: string): JsonReading => {
    const before = source.slice(0, offset).split(/\r\n|\r|\n/);
    return { ok: false, problem: { line: before.length, column: (before.at(-1)?.length ?? 0) + 1, message } };
  };
  try {
    const root = parseTree(source, errors, { disallowComments: strict, allowTrailingComma: !strict });
    const [first, second] = errors.map(({ error, offset }) => ({ name: printParseErrorCode(error), offset }));
    // Of a word that is not known, the next error says what was expected in its place.
    if (first) {
      if (/,\s*$/.test(source.slice(0, first.offset)) && /^[\]}]/.test(source.slice(first.offset)))
        return problem(first.offset, "expected another member after the comma");
      const { name } = first.name === "InvalidSymbol" && second ? second : first;
      return problem(first.offset, MESSAGES[name] ?? VALUE);
    }
    const flaw = root && flawIn(root);
    if (flaw) return problem(flaw.offset, flaw.message);
    return root ? { ok: true, value: getNodeValue(root) } : problem(0, VALUE);
  } catch (error) {
    // The parser calls itself for each level.
    if (error instanceof RangeError) return problem(0, TOO_DEEP);
    throw error;
  }
}

/** The second of two equal keys of one object, or what is nested too deep. A list may have millions of values. */
function flawIn({ type, offset, children }: Node, level = 0): { offset: number; message: string } | undefined {
  if (!children) return undefined;
  const isMember = type === "property";
  if (!isMember && level > MOST_LEVELS) return { offset, message: TOO_DEEP };
  const known = type === "object" ? new Set<unknown>() : undefined;
  for (const child of children) {
    const key = known && child.children?.[0];
    if (key && known.has(key.value)) return { offset: key.offset, message: "this key stands twice in its object" };
    known?.add(key?.value);
    const within = flawIn(child, isMember ? level : level + 1);
    if (within) return within;
  }
  return undefined;
}
