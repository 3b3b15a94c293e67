import { z } from "zod";

import { reasonOf, showFound } from "./config-error.ts";
import { Secret, type SecretFile } from "./secret.ts";
import { expected, type Form, list, Refusal, variableOf } from "./setting-kinds.ts";

/** The forms of keys, by prefix (both documents, "Authentication"). */
export interface KeyForm {
  /** "a key of the tax-compliance API" */
  noun: string;
  /** Each prefix with the environment that it stands for, where it stands for one. */
  prefixes: Readonly<Record<string, string | undefined>>;
}

export const COMPLIANCE_KEY = {
  noun: "a key of the tax-compliance API",
  prefixes: { cmp_sk_test_: "test", cmp_sk_live_: "live" },
} as const satisfies KeyForm;

export const ACCOUNTING_KEY = {
  noun: "an API key of the accounting service",
  prefixes: { sk_development_: "development", sk_production_: "production" },
} as const satisfies KeyForm;

export const ACCOUNTING_CLIENT_SECRET = {
  noun: "a client secret of the accounting service",
  prefixes: { cs_: undefined },
} as const satisfies KeyForm;

export const ACCOUNTING_WEBHOOK_SECRET = {
  noun: "a webhook secret of the accounting service",
  prefixes: { whsec_development_: "development", whsec_production_: "production" },
} as const satisfies KeyForm;

const ALL_FORMS: readonly KeyForm[] = [
  COMPLIANCE_KEY,
  ACCOUNTING_KEY,
  ACCOUNTING_CLIENT_SECRET,
  ACCOUNTING_WEBHOOK_SECRET,
];
/** What can stand in an HTTP header as it is. */
const VISIBLE_ASCII = /^[\x21-\x7e]+$/;

/**
 * Says what is wrong with a secret, without showing it; undefined where nothing is.
 * @param before the value whose place it would take while the process runs
 */
type SecretRule = (value: string, before?: string) => string | undefined;

const REFERENCE = '{ "env": "NAME" } or { "file": "PATH" }';
const reference = z.union([z.strictObject({ env: z.string().min(1) }), z.strictObject({ file: z.string().min(1) })]);

/** One secret: the variable holds it, the file only refers to it. */
export function secret(rule: SecretRule) {
  const problemOf: SecretRule = (value, before) =>
    value === "" ? "expected a secret, found an empty one" : rule(value, before);
  const accept = (value: string, place = "", file?: SecretFile): Secret | Refusal => {
    const problem = problemOf(value);
    return problem === undefined ? new Secret(value, file) : new Refusal(problem + place);
  };
  const form: Form = {
    fromText: (text) => accept(text),
    fromFile: (raw, sources) => {
      const { success, data } = reference.safeParse(raw);
      if (!success) {
        const literal = "a literal (not shown); secrets do not belong in this file";
        const found = typeof raw === "string" ? literal : showFound(raw);
        return new Refusal(`expected a reference, ${REFERENCE}, found ${found}`);
      }
      if ("env" in data) {
        sources.refersTo(data.env);
        const value = variableOf(sources.env, data.env);
        const name = `the variable ${showFound(data.env)}`;
        return value === undefined
          ? new Refusal(`refers to ${name}, which is not set`)
          : accept(value, ` (in ${name})`);
      }
      const name = `the file ${showFound(data.file)}`;
      try {
        const value = secretIn(sources.readFileOfFile(data.file));
        return accept(value, ` (in ${name})`, { path: sources.pathOfFile(data.file), problemOf });
      } catch (error) {
        return new Refusal(`refers to ${name}, which cannot be read (${reasonOf(error)})`);
      }
    },
  };
  return z.instanceof(Secret, expected("a secret")).meta({ form });
}

/** Several secrets, of which the first is the one in use. */
export function secrets(rule: SecretRule) {
  return list(secret(rule), REFERENCE, "secret ");
}

/** Editors and `echo` end a file with a line break that is no part of the secret. */
export function secretIn(text: string): string {
  return text.replace(/\r?\n$/, "");
}

export function keyRule(form: KeyForm): SecretRule {
  return (value, before) =>
    keyFormProblem(value, form) ?? (before === undefined ? undefined : keyChangeProblem(value, before, form));
}

/** What is wrong with a key, without showing it. A prefix is not secret: it says what kind of key was pasted. */
function keyFormProblem(value: string, form: KeyForm): string | undefined {
  const prefixes = Object.keys(form.prefixes);
  const expected = `expected ${form.noun}, which begins with ${prefixes.join(" or ")}`;
  const prefix = prefixes.find((candidate) => value.startsWith(candidate));
  if (prefix === undefined) return `${expected}; found ${kindOf(value)} (not shown)`;
  if (value.length === prefix.length) return `${expected} and goes on; found the prefix alone`;
  if (!VISIBLE_ASCII.test(value))
    return `${expected}; found one with white space or other invisible characters in it (not shown)`;
  return undefined;
}

/**
 * Why one key cannot take the place of another while the process runs, without showing either: what the environment
 * decides, such as the businesses that are reached, was decided at the start.
 */
function keyChangeProblem(value: string, before: string, form: KeyForm): string | undefined {
  const [found, expected] = [value, before].map((key) => keyEnvironment(key, form));
  if (found === expected) return undefined;
  return `expected ${form.noun} of the environment that the process started with, ${expected}; found one of ${found}. A change of environment needs a restart`;
}

/** The environment that a key's prefix stands for; undefined where the prefix is not of this form. */
export function keyEnvironment<E extends string | undefined>(
  value: string,
  form: { prefixes: Readonly<Record<string, E>> },
): E | undefined {
  return Object.entries(form.prefixes).find(([prefix]) => value.startsWith(prefix))?.[1];
}

function kindOf(value: string): string {
  for (const form of ALL_FORMS) {
    const prefix = Object.keys(form.prefixes).find((candidate) => value.startsWith(candidate));
    if (prefix !== undefined) return `one that begins with ${prefix}, ${form.noun}`;
  }
  if (/^\s|\s$/.test(value)) return "one with white space around it";
  return `${value.length} characters with another beginning`;
}
