import { z } from "zod";
import type { Reading, Setting } from "./setting.ts";
import { showFound } from "./show-found.ts";

/** What every kind of setting takes besides its own rules. */
export interface About<T> {
  variable?: string;
  meaning: string;
  variableNote?: string;
  required?: boolean;
  fallback?: T;
  defaultText?: string;
  example?: unknown;
  inExample?: boolean;
}

/** A text that the schema accepts; `expected` completes the sentence "expected …". */
export function textSetting<T>(schema: z.ZodType<T>, expected: string, about: About<T>): Setting<T> {
  const read = (raw: unknown): Reading<T> => check(schema, raw, expected);
  return { ...about, fromJson: read, fromText: read };
}

export function choiceSetting<const T extends string>(choices: readonly [T, ...T[]], about: About<T>): Setting<T> {
  return textSetting(z.enum(choices), choices.map((choice) => `"${choice}"`).join(" or "), about);
}

/** A whole number; both bounds belong to the range. */
export function integerSetting(
  range: { min: number; max: number; unit: string },
  about: About<number>,
): Setting<number> {
  const { min, max, unit } = range;
  return numberSetting(z.int().min(min).max(max), `a whole number of ${unit} from ${min} to ${max}`, about);
}

/** Kubernetes sets NAME_PORT=tcp://… in every pod for a Service called NAME. */
const SERVICE_LINK = /^tcp:\/\//;

export function portSetting(about: About<number>): Setting<number> {
  const expected = "a TCP port from 0 to 65535 (0 takes any that is free)";
  const plain = numberSetting(z.int().min(0).max(65_535), expected, about);
  return {
    ...plain,
    fromText: (text, sources) => {
      if (!SERVICE_LINK.test(text)) return plain.fromText(text, sources);
      const hint =
        "Kubernetes sets this for a Service of that name: set enableServiceLinks to false, or rename the Service";
      return { ok: false, problems: [`expected ${expected}, found ${showFound(text)}. ${hint}`] };
    },
  };
}

/** Where a server listens. A name is refused: it may have several addresses, or another one tomorrow. */
export function hostSetting(about: About<string>): Setting<string> {
  return textSetting(z.union([z.ipv4(), z.ipv6()]), "an IP address such as 127.0.0.1, 0.0.0.0 or ::", about);
}

function numberSetting(schema: z.ZodType<number>, expected: string, about: About<number>): Setting<number> {
  return {
    ...about,
    fromJson: (raw) => check(schema, raw, expected),
    fromText: (text) => (/^\d{1,15}$/.test(text) ? check(schema, Number(text), expected) : refused(expected, text)),
  };
}

export function flagSetting(about: About<boolean>): Setting<boolean> {
  return {
    ...about,
    fromJson: (raw) => check(z.boolean(), raw, "true or false"),
    fromText: (text) => {
      if (text === "1" || text === "true") return { ok: true, value: true };
      if (text === "0" || text === "false") return { ok: true, value: false };
      return refused("1 or 0", text);
    },
  };
}

function check<T>(schema: z.ZodType<T>, raw: unknown, expected: string): Reading<T> {
  const reading = schema.safeParse(raw);
  return reading.success ? { ok: true, value: reading.data } : refused(expected, raw);
}

function refused(expected: string, found: unknown): { ok: false; problems: string[] } {
  return { ok: false, problems: [`expected ${expected}, found ${showFound(found)}`] };
}
