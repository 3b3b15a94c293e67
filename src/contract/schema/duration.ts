import ms from "ms";
import { z } from "zod";

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
