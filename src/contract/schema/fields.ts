import { z } from "zod";
import { isCalendarDate } from "../nairobi-date.ts";
import ms from "ms";
import { SAYS_FOUND } from "./parse-input.ts";

/** A date that exists, written `YYYY-MM-DD`. */
export const calendarDate = z
  .string({ error: "expected a date written YYYY-MM-DD" })
  .refine(isCalendarDate, { error: "expected a date that exists, written YYYY-MM-DD" })
  .meta({ format: "date", pattern: "^[0-9]{4}-[0-9]{2}-[0-9]{2}$" });

const LONGEST_MS = 10 * 365 * 24 * 60 * 60 * 1000;

/** `24 hours`, `90m`, `0`; undefined for anything that is no duration between none and ten years. */
export function durationMs(text: string): number | undefined {
  const trimmed = text.trim();
  // `ms` reads a bare number as milliseconds, which nobody means here.
  if (trimmed === "0") return 0;
  if (/^-?[\d.]*$/.test(trimmed) || trimmed.length > 50) return undefined;
  const parsed = ms(trimmed as ms.StringValue);
  return Number.isFinite(parsed) && parsed >= 0 && parsed <= LONGEST_MS ? Math.round(parsed) : undefined;
}

export const duration = z
  .string({ error: 'expected a duration such as "24 hours", or "0"' })
  .refine((text) => durationMs(text) !== undefined, { error: 'expected a duration such as "24 hours", or "0"' })
  .meta({ examples: ["24 hours", "90m", "0"], pattern: "^\\s*(0|[0-9]*\\.?[0-9]+ *[A-Za-z]+)\\s*$" });

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
    if (complaint) context.addIssue({ code: "custom", message: complaint, ...SAYS_FOUND });
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
