import type { Attention } from "../../contract/index.ts";

/** So many of a list are shown; `--json` has them all. */
const MOST_SHOWN = 10;

/** What the API answered beside its message: the branches that a business has, and what is wrong with each field. */
export function evidenceLines({ evidence }: Attention): string[] {
  return ["branches", "errors"].flatMap((name) => {
    const list: unknown = evidence?.[name];
    if (!Array.isArray(list) || list.length === 0) return [];
    const more = list.length > MOST_SHOWN ? `, and ${list.length - MOST_SHOWN} more` : "";
    return [`${name}: ${list.slice(0, MOST_SHOWN).map(shown).join(", ")}${more}`];
  });
}

/** A record as its values: `branch_1 00 Nairobi`. */
function shown(entry: unknown): string {
  if (typeof entry !== "object" || entry === null) return String(entry);
  return Object.values(entry)
    .filter((value) => typeof value === "string" || typeof value === "number")
    .join(" ");
}
