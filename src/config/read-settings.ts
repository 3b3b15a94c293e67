import type { z } from "zod";

import { type ConfigProblem, showFound, unknownName } from "./config-error.ts";
import {
  formOf,
  problemsOf,
  type SettingTable,
  type SettingValues,
  type Sources,
  variableOf,
} from "./setting-kinds.ts";

export interface SettingsInput {
  /** The object of the JSON file, where there is one. */
  file: unknown;
  /** Its path in the file; empty for the file itself. */
  filePath: string;
  /** Other keys of the same object, read by someone else. */
  otherKeys?: readonly string[];
  /** Whether the variables apply: for a connection, only to the one called `default`. */
  useVariables: boolean;
  sources: Sources;
  problems: ConfigProblem[];
}

export interface SettingsReading<S extends SettingTable> {
  /** Undefined where a setting has a problem too. */
  values: Partial<SettingValues<S>>;
  /** Settings that someone set, well or not. */
  given: ReadonlySet<string>;
  /** Where a setting was given, or would have been: for problems that need more than one. */
  where: (key: keyof S & string) => string;
}

/**
 * Reads every setting of a table: the variable where it is set, else the file, else the default. Each problem is
 * added to `problems` and leaves its setting undefined, so that the others are still looked at.
 */
export function readSettings<S extends SettingTable>(table: S, input: SettingsInput): SettingsReading<S> {
  const { filePath, sources, problems } = input;
  const file = input.file === undefined ? {} : asObject(input.file, filePath, problems);
  const known = [...Object.keys(table), ...(input.otherKeys ?? [])];
  for (const key of Object.keys(file ?? {})) {
    if (!known.includes(key)) problems.push({ path: filePath || "the file", message: unknownName("key", key, known) });
  }
  const textOf = (schema: z.ZodType | undefined): string | undefined => {
    const variable = input.useVariables ? schema?.meta()?.variable : undefined;
    return variable === undefined ? undefined : variableOf(sources.env, variable);
  };
  const where = (key: string): string => {
    const inFile = joinPath(filePath, key);
    const variable = input.useVariables ? table[key]?.meta()?.variable : undefined;
    const fromFile = textOf(table[key]) === undefined && file !== undefined && Object.keys(file).length > 0;
    return variable === undefined || fromFile ? inFile : variable;
  };
  const values: Record<string, unknown> = {};
  const given = new Set<string>();
  for (const [key, schema] of Object.entries(table)) {
    const { fromText, fromFile } = formOf(schema);
    const text = textOf(schema);
    const raw = file?.[key];
    const absent = text === undefined && raw === undefined;
    if (!absent) given.add(key);
    const value = text !== undefined ? fromText(text, sources) : absent ? undefined : fromFile(raw, sources);
    const reading = schema.safeParse(value);
    if (reading.success) values[key] = reading.data;
    else if (!absent) problems.push(...problemsOf(reading.error).map((message) => ({ path: where(key), message })));
    // A section that is no object has its problem already.
    else if (file !== undefined)
      problems.push({ path: where(key), message: `is missing; expected ${schema.meta()?.meaning}` });
  }
  return { values: values as Partial<SettingValues<S>>, given, where };
}

/** The object at a path of the file; undefined, with a problem, where something else stands there. */
export function asObject(
  raw: unknown,
  path: string,
  problems: ConfigProblem[],
): Readonly<Record<string, unknown>> | undefined {
  if (typeof raw === "object" && raw !== null && !Array.isArray(raw)) return Object.fromEntries(Object.entries(raw));
  problems.push({ path: path || "the file", message: `expected an object, found ${showFound(raw)}` });
  return undefined;
}

export function joinPath(path: string, key: string): string {
  return path === "" ? key : `${path}.${key}`;
}
