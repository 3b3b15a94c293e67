import type { z } from "zod";

import { type DialectSetting, settingsOf } from "./settings.ts";

/**
 * What one needs to know of one setting of a dialect. Every text is a phrase or sentence for the documentation and
 * the command line.
 */
export interface SettingGuide {
  /** The section of the service's document that leaves it open. */
  section: string;
  /** What it is. */
  meaning: string;
  /** What happens while it is wrong. */
  whileWrong: string;
  /** How that shows; undefined where nothing shows it. */
  shows?: string | undefined;
  /**
   * How it can be found out: `read` by harmless calls, `write` by `fiscalflow dialect --write`, `ask` by asking the
   * provider alone. What the calls do not show in the end is asked too.
   */
  foundBy: "read" | "write" | "ask";
  /** The question for the provider. */
  question: string;
  /** The product works without it: it is asked for only by whoever wants what it switches on. */
  optional?: boolean;
  /** Where the schema does not say enough about the allowed values. */
  values?: string;
  /** How the default reads where it depends on more than the schema. */
  fallback?: string;
}

/** By the setting's path. */
export type DialectGuide = Readonly<Record<string, SettingGuide>>;

/** What the document leaves open, or writes with a neutral word, and no setting names. */
export interface NeutralWord {
  section: string;
  word: string;
  /** Whether, and how, the product depends on its spelling. */
  dependence: string;
}

export interface GuidedSetting extends DialectSetting, Omit<SettingGuide, "values" | "fallback"> {
  /** The default as documentation shows it. */
  fallbackText: string;
  /** The schema's default does not count everywhere: a value that is known is stated. */
  isStated: boolean;
}

/**
 * Every setting of a dialect with what the guide says of it, in the schema's order.
 * @throws Error where the guide lacks a setting, or has one that the schema lacks
 */
export function guidedSettings(schema: z.ZodType, guide: DialectGuide): GuidedSetting[] {
  const settings = settingsOf(schema);
  const paths = new Set(settings.map(({ path }) => path));
  const wrong = [
    ...[...paths].filter((path) => !Object.hasOwn(guide, path)).map((path) => `${path} is not in the guide`),
    ...Object.keys(guide)
      .filter((path) => !paths.has(path))
      .map((path) => `${path} is in the guide alone`),
  ];
  if (wrong.length > 0) throw new Error(`The guide does not describe the dialect's schema: ${wrong.join("; ")}`);
  return settings.flatMap((setting) => {
    const guided = guide[setting.path];
    if (guided === undefined) return [];
    const { fallback, values = setting.values, ...rest } = guided;
    const fallbackText = fallback ?? `\`${textOf(setting.fallback)}\``;
    return [{ ...rest, ...setting, values, fallbackText, isStated: fallback !== undefined }];
  });
}

function textOf(value: unknown): string {
  return typeof value === "string" && value !== "" ? value : JSON.stringify(value);
}
