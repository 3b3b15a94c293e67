import { z } from "zod";

/**
 * Control characters and lone surrogates can neither be printed on a receipt nor be written as UTF-8. Everything else
 * is welcome.
 */
const UNPRINTABLE = /\p{Cc}/u;

/** Text of 1 to `maxCharacters` characters, counted as code points, so that an emoji is one. */
export function printableText(maxCharacters: number) {
  const checked = z.string().superRefine((text, context) => {
    const characters = Array.from(text);
    const complaint =
      characters.length === 0
        ? "expected at least 1 character, found an empty text"
        : characters.length > maxCharacters
          ? `expected at most ${maxCharacters} characters, found ${characters.length}`
          : UNPRINTABLE.test(text)
            ? "expected no control characters (such as tab or line break), found one"
            : hasLoneSurrogate(characters)
              ? "expected well-formed Unicode, found half of a surrogate pair"
              : undefined;
    if (complaint) context.addIssue({ code: "custom", message: complaint });
  });
  // For the JSON Schema, which counts code points too.
  return checked.meta({ minLength: 1, maxLength: maxCharacters, pattern: "^[^\\x00-\\x1F\\x7F-\\x9F]*$" });
}

function hasLoneSurrogate(characters: string[]): boolean {
  return characters.some((character) => character.length === 1 && /[\uD800-\uDFFF]/.test(character));
}

/** The caller's own number of a document. Only what we issue ourselves is bound to the API's 50 characters. */
export function invoiceNumber(maxCharacters: number) {
  return printableText(maxCharacters);
}
