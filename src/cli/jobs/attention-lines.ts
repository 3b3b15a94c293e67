import {
  type Attention,
  DEFAULT_CONNECTION,
  MEANING,
  nairobiTime,
  plainLine,
  updateExamples,
} from "../../contract/index.ts";
import { shellWord } from "../output.ts";
import { evidenceLines } from "../sale/evidence-lines.ts";
import { commandOf } from "../update-options.ts";
import type { JobScope } from "./job-command.ts";

/** What a job needs an operator for, and the commands that resolve it. */
export function attentionLines(
  attention: Attention,
  { group, argument }: { group: string; argument?: string },
  scope: JobScope,
): string[] {
  const { code, subject, message, sinceMs } = attention;
  const where = [
    ...(scope.connection === DEFAULT_CONNECTION ? [] : ["--connection", scope.connection]),
    ...(scope.businessId === undefined ? [] : ["--business", shellWord(scope.businessId)]),
  ];
  const which = argument === undefined ? [] : [shellWord(argument)];
  const commands = updateExamples(attention)
    .map(commandOf)
    // `batch resolve`
    .map(({ verb, flags }) =>
      ["fiscalflow", group, verb.replace(`-${group}`, ""), ...which, ...flags, ...where].join(" "),
    );
  return [
    `Needs an operator: ${code}${subject === undefined ? "" : ` (${subject})`}, since ${nairobiTime(sinceMs)}`,
    `  ${MEANING[code]}. ${message}`,
    ...evidenceLines(attention).map((line) => `  ${line}`),
    ...commands.map((command) => `    ${command}`),
  ].map(plainLine);
}
