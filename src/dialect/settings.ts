import type { z } from "zod";

/** One setting of a dialect, as its schema describes it. */
export interface DialectSetting {
  /** From the root of the dialect: `purchases.pageSize`. */
  path: string;
  /** What counts where nobody sets it. */
  fallback: unknown;
  /** The allowed values, in words. */
  values: string;
}

/** Every setting of a dialect, in the schema's order. An operation that is off by default (`null`) is one setting. */
export function settingsOf(schema: z.ZodType): DialectSetting[] {
  const root: z.core.$ZodType = schema;
  return walk(root as Schema, schema.parse(undefined), []);
}

/** The value at a setting's path. */
export function valueAt(dialect: unknown, path: string): unknown {
  return path
    .split(".")
    .reduce<unknown>(
      (inner, key) => (typeof inner === "object" && inner !== null ? Reflect.get(inner, key) : undefined),
      dialect,
    );
}

/** A partial dialect in which each path has its value. */
export function dialectOf(values: Iterable<readonly [path: string, value: unknown]>): Record<string, unknown> {
  const dialect: Record<string, unknown> = {};
  for (const [path, value] of values) {
    const keys = path.split(".");
    const last = keys.pop() ?? "";
    let place = dialect;
    for (const key of keys) place = (place[key] ??= {}) as Record<string, unknown>;
    place[last] = value;
  }
  return dialect;
}

type Schema = z.core.$ZodTypes;

function walk(schema: Schema, fallback: unknown, path: readonly string[]): DialectSetting[] {
  const { inner, nullable } = unwrapped(schema);
  const { def } = inner._zod;
  if (def.type === "object" && !nullable) {
    return Object.entries(def.shape).flatMap(([key, part]) => {
      const own: unknown = typeof fallback === "object" && fallback !== null ? Reflect.get(fallback, key) : undefined;
      return walk(part as Schema, own, [...path, key]);
    });
  }
  const values = [...allowed(inner, fallback), ...(nullable ? ["`null`"] : [])].join(", ");
  return [{ path: path.join("."), fallback, values }];
}

/** The schema inside its defaults, and whether `null` is allowed too. */
function unwrapped(schema: Schema): { inner: Schema; nullable: boolean } {
  const { def } = schema._zod;
  switch (def.type) {
    case "nullable":
      return { ...unwrapped(def.innerType as Schema), nullable: true };
    case "default":
    case "prefault":
    case "optional":
      return unwrapped(def.innerType as Schema);
    default:
      return { inner: schema, nullable: false };
  }
}

function allowed(schema: Schema, fallback: unknown): string[] {
  const { def } = schema._zod;
  switch (def.type) {
    case "enum":
      return Object.values(def.entries).map((member) => `\`${member}\``);
    case "boolean":
      return ["`true`", "`false`"];
    case "object":
      return [`\`{ ${Object.keys(def.shape).join(", ")} }\``];
    case "union":
      return def.options.flatMap((option) => allowed(option as Schema, fallback));
    default:
      return [typeof fallback === "string" && fallback.startsWith("/") ? "a path" : "a name"];
  }
}
