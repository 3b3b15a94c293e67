import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Command } from "commander";

import { createProgram } from "../../src/cli/run-cli.ts";
import {
  ATTENTION_CODES,
  ERROR_CODES,
  MAIN_TASK_QUEUE,
  SEARCH_ATTRIBUTES,
  SIGNALS,
  STAGES,
  STATE_QUERY,
  UPDATE_FORMS,
  WORKFLOW_TYPES,
} from "../../src/contract/index.ts";
import { PUBLISHED_SCHEMAS } from "../../src/contract/test-support/published.ts";
import { storedFiles } from "../replay/stored.ts";

/** At the end of a line: what is not demanded once is never demanded of those who know nothing of it. */
const DEMANDED = " must be given";
const ROOT = resolve(import.meta.dirname, "../..");
const HISTORIES = "test/replay/histories";

interface Schema {
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
}

/**
 * What a release promises (docs/compatibility.md, "What programs can hold on to"), a line each: see {@link broken}. A
 * stored history counts with its content.
 */
export async function promises(): Promise<string[]> {
  const histories = [...(await storedFiles())].toSorted();
  return [
    `task queue ${MAIN_TASK_QUEUE}`,
    ...named("workflow", Object.values(WORKFLOW_TYPES)),
    `query ${STATE_QUERY}`,
    ...named("update", Object.keys(UPDATE_FORMS)),
    ...named("signal", Object.values(SIGNALS)),
    ...named("search attribute", Object.values(SEARCH_ATTRIBUTES)),
    ...named("stage", STAGES),
    ...named("attention code", ATTENTION_CODES),
    ...named("error code", ERROR_CODES),
    ...Object.entries(PUBLISHED_SCHEMAS)
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .flatMap(([name, schema]) => named(name, fieldsOf(name, schema))),
    ...named("export", exportsOf(read("test/examples/surface.txt"))),
    ...named("command", commandsOf(program())),
    ...named("setting", settings()),
    ...named("metric", METRICS_PAGES.flatMap((page) => found(page, /`(fiscalflow_[a-z_]+[a-z])`/g)).toSorted()),
    ...histories.map((file) => `history ${file} ${digestOf(join(HISTORIES, file))}`),
  ];
}

/** What a release with these promises breaks of an earlier one's. */
export function broken(today: readonly string[], promised: readonly string[]): string[] {
  const [has, had] = [new Set(today), new Set(promised)];
  const lost = promised.filter((one) => !has.has(one) && !one.endsWith(DEMANDED));
  const demanded = today.filter((one) => {
    if (!one.endsWith(DEMANDED) || had.has(one)) return false;
    // Of what it stands in: a new command may demand what it likes.
    const whole = one.slice(0, -DEMANDED.length).replace(/(\.| )[^. ]+$/, "");
    return promised.some((known) => known === whole || known.startsWith(`${whole} `) || known.startsWith(`${whole}.`));
  });
  return [...lost, ...demanded];
}

const METRICS_PAGES = ["docs/monitoring.md", "docs/budget.md", "docs/administration.md"];

function read(path: string): string {
  return readFileSync(join(ROOT, path), "utf8");
}

function named(what: string, names: Iterable<string>): string[] {
  return Array.from(new Set(names), (name) => `${what} ${name}`);
}

function found(page: string, pattern: RegExp): string[] {
  return Array.from(read(page).matchAll(pattern), ([, name = ""]) => name);
}

function digestOf(path: string): string {
  return createHash("sha256").update(read(path)).digest("hex");
}

/** Variables, and the keys of the file. */
function settings(): string[] {
  const heads = read("docs/configuration.md").matchAll(/^\| (`[A-Z][^|]*) \| ([^|]*) \|/gm);
  return Array.from(heads, ([, variables, key]) => `${variables} ${key}`).flatMap((head) =>
    Array.from(head.matchAll(/`([A-Za-z_.[\]]+)`/g), ([, name = ""]) => name),
  );
}

/** `sale refund --reason`, and `sale refund <invoice>`. */
function* commandsOf(command: Command, above = ""): Iterable<string> {
  for (const one of command.commands) {
    const name = `${above}${one.name()}`;
    yield name;
    for (const argument of one.registeredArguments) {
      yield `${name} <${argument.name()}>`;
      if (argument.required) yield `${name} <${argument.name()}>${DEMANDED}`;
    }
    for (const { long, required, mandatory, argChoices = [] } of one.options) {
      yield `${name} ${long}${required ? " takes a value" : ""}`;
      if (mandatory) yield `${name} ${long}${DEMANDED}`;
      for (const choice of argChoices) yield `${name} ${long} takes ${choice}`;
    }
    yield* commandsOf(one, `${name} `);
  }
}

/** Without the demo and the simulator, which may change at any time. */
function program(): Command {
  const { stdin, stdout, stderr } = process;
  return createProgram({ env: {}, stdin, stdout, stderr, signal: AbortSignal.abort() });
}

function exportsOf(surface: string): string[] {
  return surface.split("\n\n").flatMap((section) => {
    const [entry = "", ...names] = section.trim().split("\n");
    return names.map((name) => `${entry} ${name.trim()}`);
  });
}

/**
 * Of what is taken: each field, the values that it accepts, and whether it must be given. Of what is answered: each
 * field, and whether it is always there.
 */
function fieldsOf(name: string, whole: Schema): Set<string> {
  const isAnswer = name.startsWith("answer.");
  const fields = new Set<string>();
  const walk = (schema: Schema, path: string, isOneOfSeveral: boolean): void => {
    if (!isAnswer)
      for (const value of schema.enum ?? [schema.const])
        if (value !== undefined) fields.add(`${path || "the whole"} accepts ${JSON.stringify(value)}`);
    for (const [name, one] of Object.entries(schema.properties ?? {})) {
      const at = path === "" ? name : `${path}.${name}`;
      const isRequired = schema.required?.includes(name) ?? false;
      fields.add(at);
      const types = one.type === undefined ? [] : [one.type].flat();
      for (const type of types) fields.add(`${at} is ${type}`);
      if (!isOneOfSeveral && isRequired) fields.add(`${at}${isAnswer ? " is always there" : DEMANDED}`);
      walk(one, at, isOneOfSeveral);
    }
    if (schema.items) walk(schema.items, `${path}[]`, isOneOfSeveral);
    for (const one of [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]) {
      if (!isAnswer && one.required) fields.add(`${path || "the whole"} accepts ${one.required.join(" with ")}`);
      walk(one, path, true);
    }
  };
  walk(whole, "", false);
  return fields;
}
