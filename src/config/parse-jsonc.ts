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
    const twice = root && keyTwice(root);
    if (twice) return problem(twice.offset, "this key stands twice in its object");
    return root ? { ok: true, value: getNodeValue(root) } : problem(0, VALUE);
  } catch (error) {
    // The parser calls itself for each level.
    if (error instanceof RangeError) return problem(0, "nested too deep");
    throw error;
  }
}

/** The second of two equal keys of one object. */
function keyTwice({ type, children = [] }: Node): Node | undefined {
  const known = new Set<unknown>();
  for (const child of children) {
    const [key] = type === "object" ? (child.children ?? []) : [];
    if (key && known.has(key.value)) return key;
    known.add(key?.value);
    const within = keyTwice(child);
    if (within) return within;
  }
  return undefined;
}
