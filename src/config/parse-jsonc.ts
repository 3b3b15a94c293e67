import { getNodeValue, type ParseErrorCode, parseTree, printParseErrorCode, visit } from "jsonc-parser";

const OPTIONS = { allowTrailingComma: true };

/**
 * JSON with comments and trailing commas, so that the commented example can be used as it is. `JSON.parse` does not do:
 * its messages quote the text, which may hold a secret, and it silently takes the last of two equal keys.
 * @returns the value, or where and why the text is not JSON
 */
export function parseJsonc(text: string): { value: unknown } | { problem: string } {
  const source = text.replace(/^\uFEFF/, "");
  const problems: string[] = [];
  const problem = (line: number, character: number, what: string): void => {
    problems.push(`line ${line + 1}, column ${character + 1}: ${what}`);
  };
  const keysAround: Set<string>[] = [];
  visit(
    source,
    {
      onObjectBegin: () => void keysAround.push(new Set()),
      onObjectEnd: () => void keysAround.pop(),
      onObjectProperty(key, _offset, _length, line, character) {
        const keys = keysAround.at(-1);
        if (keys?.has(key) === true) problem(line, character, "this key stands twice in its object");
        keys?.add(key);
      },
      onError: (code, _offset, _length, line, character) => problem(line, character, inWords(code)),
    },
    OPTIONS,
  );
  const [first] = problems;
  if (first !== undefined) return { problem: first };
  const root = parseTree(source, [], OPTIONS);
  return root ? { value: getNodeValue(root) } : { problem: "expected a value, found nothing" };
}

/** "property name expected" */
function inWords(code: ParseErrorCode): string {
  return printParseErrorCode(code)
    .replaceAll(/\B[A-Z]/g, " $&")
    .toLowerCase();
}
