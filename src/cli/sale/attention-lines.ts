import { type Attention, balanceAgainst, MEANING, nairobiTime, plainLine } from "../../contract/index.ts";

interface About {
  /** Which resolve it. */
  commands: readonly string[];
  /** What to do before. */
  whatToDo?: string;
  /** Default: somebody is needed now. */
  title?: string;
}

/** What an operator is needed for, what is known of it, and the commands that resolve it. */
export function attentionLines(
  attention: Attention,
  { commands, whatToDo, title = "Needs an operator" }: About,
): string[] {
  const { code, subject, message, sinceMs } = attention;
  return [
    `${title}: ${code}${subject === undefined ? "" : ` (${subject})`}, since ${nairobiTime(sinceMs)}`,
    ...(whatToDo === undefined ? [] : [`  ${whatToDo}`]),
    `  ${MEANING[code]}. ${message}`,
    ...[...balanceLines(attention), ...evidenceLines(attention)].map((line) => `  ${line}`),
    ...commands.map((command) => `    ${command}`),
  ].map(plainLine);
}

/** So many of a list are shown; `--json` has them all. */
const MOST_SHOWN = 10;

/** What the API answered beside its message: the branches that a business has, and what is wrong with each field. */
function evidenceLines({ evidence }: Attention): string[] {
  return ["branches", "errors"].flatMap((name) => {
    const list: unknown = evidence?.[name];
    if (!Array.isArray(list) || list.length === 0) return [];
    const more = list.length > MOST_SHOWN ? `, and ${list.length - MOST_SHOWN} more` : "";
    return [`${name}: ${list.slice(0, MOST_SHOWN).map(valuesOf).join(", ")}${more}`];
  });
}

/** `branch_1 00 Nairobi` */
function valuesOf(entry: unknown): string {
  if (typeof entry !== "object" || entry === null) return String(entry);
  const isShown = (value: unknown) => typeof value === "string" || typeof value === "number";
  return Object.values(entry).filter(isShown).join(" ");
}

const CAVEAT = "Other tills and the dashboard move it too, so look before you answer.";

const SPEAKS: Readonly<Record<string, string>> = {
  for: "The balance speaks for it: it was probably applied.",
  against: "The balance speaks against it: it was probably not applied.",
  neither: "The balance speaks neither for it nor against it.",
};

/**
 * What the item's balance says of a movement of unknown outcome, in words. Evidence and no more: other tills and the
 * dashboard move the balance too. Where no balance is known, `whatToDo` says so.
 */
export function balanceLines({ code, evidence = {} }: Attention): string[] {
  if (code !== "stock-unknown") return [];
  const { expectedIfApplied, expectedIfNot, lastQuantityOnHand, lastSeenAt, laterQuantityOnHand, laterSeenAt } =
    evidence;
  const lines: string[] = [];
  if (typeof lastQuantityOnHand === "number")
    lines.push(`Last balance before it was sent: ${lastQuantityOnHand}${timeOf(lastSeenAt)}.`);
  if (typeof laterQuantityOnHand !== "number") return lines;
  const expected =
    typeof expectedIfApplied === "number"
      ? `; ${expectedIfApplied} was expected if it was applied, ${String(expectedIfNot)} if not`
      : "";
  lines.push(`First balance after it: ${laterQuantityOnHand}${timeOf(laterSeenAt)}${expected}.`);
  const speaks = SPEAKS[String(evidence["balanceSpeaks"])];
  return speaks === undefined ? lines : [...lines, `${speaks} ${CAVEAT}`];
}

function timeOf(at: unknown): string {
  return typeof at === "string" ? ` (${nairobiTime(Date.parse(at))})` : "";
}

/** What to tell whoever answers against what the balance says; undefined where it does not say the opposite. */
export function contradiction(attention: Attention, applied: boolean): string | undefined {
  if (!balanceAgainst(attention.evidence ?? {}, applied)) return undefined;
  const risk = applied
    ? "If it was not applied, the stock stays wrong: it is not sent again."
    : "If it was applied, it is applied twice: it is sent again.";
  return ["Warning: the balance speaks against this answer.", ...balanceLines(attention), risk].join("\n  ");
}
