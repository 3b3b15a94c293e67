import { z } from "zod";
import { keyChangeProblem, keyFormProblem } from "./key-forms.ts";
import type { KeyForm } from "./key-forms.ts";
import type { About } from "./plain-settings.ts";
import { Secret, type SecretFile } from "./secret.ts";
import { variableOf } from "./setting.ts";
import type { Reading, Setting, Sources } from "./setting.ts";
import { showFound } from "./show-found.ts";

/**
 * Says what is wrong with a secret, without showing it; undefined where nothing is.
 * @param before the value whose place it would take while the process runs
 */
export type SecretRule = (value: string, before?: string) => string | undefined;

const reference = z.union([z.strictObject({ env: z.string().min(1) }), z.strictObject({ file: z.string().min(1) })]);
const REFERENCE = '{ "env": "NAME" } or { "file": "PATH" }';

export function keyRule(form: KeyForm): SecretRule {
  return (value, before) =>
    keyFormProblem(value, form) ?? (before === undefined ? undefined : keyChangeProblem(value, before, form));
}

/** One secret: the variable holds it, the file only refers to it. */
export function secretSetting(rule: SecretRule, about: About<Secret>): Setting<Secret> {
  return {
    ...about,
    fromJson: (raw, sources) => readReference(raw, rule, sources),
    fromText: (text) => accept(text, rule),
  };
}

/** Several secrets, of which the first is the one in use: the variable separates them by commas. */
export function secretListSetting(rule: SecretRule, about: About<Secret[]>): Setting<Secret[]> {
  return {
    ...about,
    fromJson: (raw, sources) => {
      if (!Array.isArray(raw)) {
        return { ok: false, problems: [`expected a list of ${REFERENCE}, found ${found(raw)}`] };
      }
      return allOf(raw.map((entry: unknown) => readReference(entry, rule, sources)));
    },
    fromText: (text) => allOf(text.split(",").map((part) => accept(part.trim(), rule))),
  };
}

function readReference(raw: unknown, rule: SecretRule, sources: Sources): Reading<Secret> {
  const parsed = reference.safeParse(raw);
  if (!parsed.success) {
    return { ok: false, problems: [`expected a reference, ${REFERENCE}, found ${found(raw)}`] };
  }
  if ("env" in parsed.data) {
    const name = parsed.data.env;
    sources.referredVariables.add(name);
    const value = variableOf(sources.env, name);
    if (value === undefined)
      return { ok: false, problems: [`refers to the variable ${showFound(name)}, which is not set`] };
    return accept(value, rule, `the variable ${showFound(name)}`);
  }
  const path = parsed.data.file;
  try {
    const value = secretIn(sources.readFileOfFile(path));
    const file = { path: sources.pathOfFile(path), problemOf: ruleFor(rule) };
    return accept(value, rule, `the file ${showFound(path)}`, file);
  } catch (error) {
    return {
      ok: false,
      problems: [`refers to the file ${showFound(path)}, which cannot be read (${reasonOf(error)})`],
    };
  }
}

/** Editors and `echo` end a file with a line break that is no part of the secret. */
export function secretIn(text: string): string {
  return text.replace(/\r?\n$/, "");
}

function ruleFor(rule: SecretRule): SecretRule {
  return (value, before) => (value === "" ? "expected a secret, found an empty one" : rule(value, before));
}

function accept(value: string, rule: SecretRule, source?: string, file?: SecretFile): Reading<Secret> {
  const problem = ruleFor(rule)(value);
  if (problem === undefined) return { ok: true, value: new Secret(value, file) };
  return { ok: false, problems: [source === undefined ? problem : `${problem} (in ${source})`] };
}

function allOf(readings: readonly Reading<Secret>[]): Reading<Secret[]> {
  const secrets: Secret[] = [];
  const problems: string[] = [];
  if (readings.length === 0) problems.push("expected at least one secret, found none");
  for (const [index, reading] of readings.entries()) {
    if (!reading.ok) {
      problems.push(...reading.problems.map((problem) => `secret ${index + 1} of ${readings.length}: ${problem}`));
    } else if (secrets.some((secret) => secret.equals(reading.value))) {
      problems.push(
        `secret ${index + 1} of ${readings.length}: expected different secrets, found one that stands there twice`,
      );
    } else {
      secrets.push(reading.value);
    }
  }
  return problems.length === 0 ? { ok: true, value: secrets } : { ok: false, problems };
}

function found(raw: unknown): string {
  return typeof raw === "string" ? "a literal (not shown); secrets do not belong in this file" : showFound(raw);
}

/** The system's code where there is one (`ENOENT`): a message may quote more than is wanted. */
export function reasonOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "unknown reason";
}
