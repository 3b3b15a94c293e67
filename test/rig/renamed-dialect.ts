import type { z } from "zod";

import {
  type AccountingDialect,
  accountingDialectSchema,
  type Dialect,
  dialectSchema,
  parseAccountingDialect,
  parseDialect,
} from "../../src/dev/simulator/dialect.ts";

/** Plausible words where the default is a single word, which snake case would not change. */
const OTHER_WORDS: Readonly<Record<string, string>> = Object.fromEntries(
  `customer buyer, lines items, quantity qty, name fullName, pin kraPin, phone phoneNumber, email emailAddress, force reRegister, cursor after,
  status state, from dateFrom, to dateTo, businesses companies, branches locations, id uuid, fiscal kra, page pageNumber, limit perPage,
  data companies`
    .split(",")
    .map((pair) => pair.trim().split(" ")),
);

/** Another plausible spelling of the same thing. */
function rename(name: string): string {
  const snake = name.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  if (name.startsWith("X-")) return name.replace("X-", "X-Provider-");
  return snake === name ? (OTHER_WORDS[name] ?? `${name}_value`) : snake;
}

/**
 * Both dialects of the simulator with every name and every switch changed to another valid value, by a walk through
 * their schemas: a new setting is changed without anybody thinking of it. What is off by default (`null`) is on.
 */
export function renamedDialects(): { compliance: Dialect; accounting: AccountingDialect } {
  return {
    compliance: parseDialect(changed(dialectSchema, parseDialect(undefined), [])),
    accounting: parseAccountingDialect(changed(accountingDialectSchema, parseAccountingDialect(undefined), [])),
  };
}

/** The path and value of each setting; an operation that the document only names is one setting. */
export function leavesOf(value: unknown, path: readonly string[] = []): [path: string, value: unknown][] {
  const isBranch = typeof value === "object" && value !== null && !("method" in value) && !("header" in value);
  if (!isBranch) return [[path.join("."), value]];
  return Object.entries(value).flatMap(([key, inner]) => leavesOf(inner, [...path, key]));
}

type Walked = z.core.$ZodType;

function changed(schema: Walked, now: unknown, path: readonly string[]): unknown {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case "object":
      return changedObject(def.shape, now, path);
    case "nullable":
    case "optional":
    case "default":
    case "prefault":
      return changed(def.innerType, now, path);
    case "union":
      return changed(def.options[0] ?? schema, now, path);
    case "enum":
      return Object.values(def.entries).findLast((member) => member !== now);
    case "boolean":
      return now !== true;
    case "string":
      return changedText(now, path);
    default:
      throw new Error(`${path.join(".")}: renamedDialects does not know how to change a ${def.type}`);
  }
}

function changedObject(shape: Readonly<Record<string, Walked>>, now: unknown, path: readonly string[]): unknown {
  // Off by default, and only named by the document: a path that nothing else has switches it on.
  if ("method" in shape) return switchedOn(path.at(-1) ?? "");
  return Object.fromEntries(
    Object.entries(shape).map(([key, inner]) => {
      const value: unknown = typeof now === "object" && now !== null ? Reflect.get(now, key) : undefined;
      return [key, changed(inner, value, [...path, key])];
    }),
  );
}

function switchedOn(operation: string): unknown {
  const path = `/v1/${operation.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  if (operation === "createItem") return { method: "POST", path, fields: { externalId: "external_id" } };
  if (operation === "receiptDownload") return { method: "GET", path: `${path}/{id}`, accept: "application/pdf" };
  return { method: "GET", path };
}

function changedText(now: unknown, path: readonly string[]): string {
  const key = path.at(-1) ?? "";
  if (typeof now === "string" && now.startsWith("/")) return `${now}/new`;
  if (typeof now === "string" && now !== "") return rename(now);
  if (key === "signaturePrefix") return "sha256=";
  return key.endsWith("Header") ? `X-${rename(key)}` : rename(key);
}
