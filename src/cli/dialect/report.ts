import type { ComparedSetting, Comparison, Verdict } from "../../dialect/compare.ts";
import { plainTable } from "../plain-table.ts";
import type { Write } from "./write.ts";

/**
 * What was found of one connection. Holds names, numbers and ids of our own making: no secret, and nothing of a
 * customer.
 */
export interface DialectReport extends Comparison {
  service: "compliance" | "accounting";
  connection: string;
  /** The variable for `dialect`; of another connection than `default` it belongs in the file. */
  variable: "COMPLIANCE_DIALECT" | "ACCOUNTING_DIALECT";
  calls: number;
  /** With `--write`. */
  writes: Write[];
  /** Why the search ended early. */
  ended?: string;
  /** It ended early because the service could not be asked, or a test item was missing. */
  failed?: true;
}

const VERDICTS: Readonly<Record<Verdict, string>> = {
  fits: "fits",
  differs: "differs",
  wrong: "does not fit",
  off: "switched off",
  open: "not shown",
};

const SERVICES = { compliance: "Compliance API", accounting: "Accounting Service" } as const;

export function reportText(report: DialectReport): string {
  const { service, connection, variable, calls, settings, questions, dialect, writes, ended } = report;
  const shown = settings.filter(({ verdict }) => verdict !== "open");
  const needed = questions.filter(({ optional }) => !optional);
  const optional = questions.filter((question) => question.optional);
  const blocks = [
    `${SERVICES[service]}, connection ${connection}: ${summary(settings)} (${calls} calls)`,
    ...(ended === undefined ? [] : [`The search ended early: ${ended.replace(/\.$/, "")}.`]),
    ...(writes.length === 0 ? [] : [writes.map(writeLine).join("\n")]),
    plainTable(["setting", "configured", "found", "", "how"], shown.map(row)),
    Object.keys(dialect).length === 0
      ? "Nothing that was found differs from the defaults."
      : `${variable} (only what differs from the defaults):\n${JSON.stringify(dialect, null, 2)}`,
    ...(needed.length === 0 ? [] : [`Ask the provider:\n${needed.map(questionLine).join("\n")}`]),
    ...(optional.length === 0
      ? []
      : [`Ask the provider only if you want what it switches on:\n${optional.map(questionLine).join("\n")}`]),
  ];
  return blocks.join("\n\n");
}

export function writeLine({ what, number, outcome, id, detail }: Write): string {
  const made = id === undefined ? "" : ` (${id})`;
  const why = detail === undefined ? "" : `: ${detail}`;
  const todo = outcome === "unknown" ? ". Look for it in the dashboard; it is not sent again" : "";
  return `${what} ${number}${made}: ${outcome}${why}${todo}`;
}

function summary(settings: readonly ComparedSetting[]): string {
  const count = (...verdicts: Verdict[]): number => settings.filter(({ verdict }) => verdicts.includes(verdict)).length;
  return `${count("fits")} settings fit, ${count("differs", "wrong")} do not, ${count("open")} cannot be told`;
}

function row({ path, configured, found, verdict, evidence }: ComparedSetting): string[] {
  return [path, valueText(configured), found === undefined ? "?" : valueText(found), VERDICTS[verdict], evidence];
}

function valueText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function questionLine({ path, question }: { path: string; question: string }): string {
  return `- ${path}: ${question}`;
}
