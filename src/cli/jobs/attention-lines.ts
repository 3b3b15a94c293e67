import { type Attention, DEFAULT_CONNECTION, MEANING } from "../../contract/index.ts";
import { evidenceLines } from "../sale/evidence-lines.ts";
import { nairobiTime } from "../sale/nairobi-time.ts";
import { shellWord } from "../sale/shell-word.ts";
import type { JobScope } from "./job-command.ts";

/** What a job needs a person for, and the commands that mend it. */
export function attentionLines(attention: Attention, group: string, scope: JobScope): string[] {
  const { code, subject, message, sinceMs, mendedBy } = attention;
  const where = [
    ...(scope.connection === DEFAULT_CONNECTION ? [] : ["--connection", scope.connection]),
    ...(scope.businessId === undefined ? [] : ["--business", shellWord(scope.businessId)]),
  ];
  const commands = mendedBy.flatMap((mend) => {
    const flags =
      mend === "acknowledge"
        ? ["--code", code, ...(subject === undefined ? [] : ["--subject", shellWord(subject)]), "--note", "'<why>'"]
        : [];
    const mends = mend === "retry" || mend === "acknowledge";
    return mends ? [["fiscalflow", group, mend, ...flags, ...where].join(" ")] : [];
  });
  return [
    `Needs a person: ${code}${subject === undefined ? "" : ` (${subject})`}, since ${nairobiTime(sinceMs)}`,
    `  ${MEANING[code]}. ${message}`,
    ...evidenceLines(attention).map((line) => `  ${line}`),
    ...commands.map((command) => `    ${command}`),
  ];
}
