import { z } from "zod";

/** What somebody needs to know of one setting of a dialect: phrases for the documentation and the command line. */
export interface AboutSetting {
  /** The section of the service's document that leaves it open. */
  section: string;
  meaning: string;
  /** What happens while it is wrong, and how that shows. */
  ifWrong: string;
  /** For the provider. */
  question: string;
  /** Only somebody who wants what it switches on needs an answer. */
  optional?: true;
  /** The allowed values, where the schema does not say enough. */
  values?: string;
  /** The default, where it depends on more than the schema. */
  fallback?: string;
}

export interface DialectSetting extends AboutSetting {
  /** From the root of the dialect: `purchases.pageSize`. */
  path: string;
  /** The schema's default. */
  value: unknown;
  values: string;
}

const registry = z.registry<AboutSetting>();

const word = z.string().regex(/^\S+$/, "must be a name without spaces");
const pathForm = z.string().regex(/^\/[^\s?#]*$/, 'must be a path that begins with "/"');
const operationSchema = z.strictObject({
  method: z.enum(["GET", "POST", "PUT", "PATCH", "DELETE"]),
  path: pathForm,
  fields: z.record(z.string(), word.nullable()).optional(),
});

/** A setting of any form. Each schema that is described here is one setting, whatever it holds. */
export function setting<Schema extends z.ZodType>(schema: Schema, about: AboutSetting): Schema {
  registry.add(schema, about);
  return schema;
}

export const name = (value: string, about: AboutSetting) => setting(word.default(value), about);
/** `null`: the name is not used. */
export const optionalName = (value: string | null, about: AboutSetting) =>
  setting(word.nullable().default(value), about);
export const path = (value: string, about: AboutSetting) => setting(pathForm.default(value), about);
/** An operation that the document only names: off until it is described. */
export const namedOperation = (about: AboutSetting) => setting(operationSchema.nullable().default(null), about);
export const namedDownload = (about: AboutSetting) => {
  const accept = z.string().regex(/^[\x21-\x7e][\x20-\x7e]*$/, "must be content types, such as application/pdf");
  const schema = operationSchema.extend({ accept: accept.default("*/*") });
  return setting(schema.nullable().default(null), about);
};

/** Settings that belong together. */
export function group<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.strictObject(shape).prefault({} as z.input<z.ZodObject<Shape>>);
}

/** Names of one request: under one name, one would overwrite the other. */
export function distinctNames<Shape extends Record<string, z.ZodType<string | null>>>(shape: Shape) {
  const schema = z.strictObject(shape).superRefine((names, context) => {
    const seen = new Map<string, string>();
    for (const [field, sentAs] of Object.entries(names as Record<string, string | null>)) {
      if (sentAs === null) continue;
      const other = seen.get(sentAs);
      if (other !== undefined)
        context.addIssue({ code: "custom", path: [field], message: `the same name as ${other}` });
      seen.set(sentAs, field);
    }
  });
  return schema.prefault({} as z.input<typeof schema>);
}

/** The settings of a dialect that are wrong: nothing was sent, and nothing can be. */
export class DialectError extends Error {
  override readonly name = "DialectError";
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join("; "));
    this.problems = problems;
  }
}

/**
 * Partial overrides, merged over the defaults.
 *
 * @throws DialectError with every problem and its path, an unknown name among them
 */
export function parseOverrides<Dialect>(schema: z.ZodType<Dialect>, overrides: unknown): Dialect {
  const parsed = schema.safeParse(overrides);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.flatMap((issue) => {
    const at = ["dialect", ...issue.path.map(String)].join(".");
    return issue.code === "unrecognized_keys"
      ? issue.keys.map((key) => `${at}.${key}: the dialect has no such name`)
      : [`${at}: ${issue.message}`];
  });
  throw new DialectError(problems);
}

/**
 * Every setting of a dialect, in the schema's order.
 * @throws Error where a part of the schema is described by nothing
 */
export function settingsOf(schema: z.ZodType): DialectSetting[] {
  const root: z.core.$ZodType = schema;
  return walk(root as z.core.$ZodTypes, schema.parse(undefined), "");
}

/** The value at a setting's path. */
export function valueAt(dialect: unknown, at: string): unknown {
  const inside = (value: unknown, key: string): unknown =>
    typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
  return at.split(".").reduce(inside, dialect);
}

function walk(schema: z.core.$ZodTypes, value: unknown, at: string): DialectSetting[] {
  const described: z.core.$ZodType = schema;
  const about = registry.get(described as z.ZodType);
  if (about) return [{ ...about, path: at, value, values: about.values ?? allowed(schema, value).join(", ") }];
  const { def } = schema._zod;
  if (def.type === "prefault") return walk(def.innerType as z.core.$ZodTypes, value, at);
  if (def.type !== "object") throw new Error(`The dialect's setting ${at} is not described`);
  return Object.entries(def.shape).flatMap(([key, part]) =>
    walk(part as z.core.$ZodTypes, valueAt(value, key), at === "" ? key : `${at}.${key}`),
  );
}

function allowed(schema: z.core.$ZodTypes, value: unknown): string[] {
  const { def } = schema._zod;
  switch (def.type) {
    case "default":
      return allowed(def.innerType as z.core.$ZodTypes, value);
    case "nullable":
      return [...allowed(def.innerType as z.core.$ZodTypes, value), "`null`"];
    case "enum":
      return Object.values(def.entries).map((member) => `\`${member}\``);
    case "boolean":
      return ["`true`", "`false`"];
    case "object":
      return [`\`{ ${Object.keys(def.shape).join(", ")} }\``];
    default:
      return [typeof value === "string" && value.startsWith("/") ? "a path" : "a name"];
  }
}
