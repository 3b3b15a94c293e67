import {
  type Attention,
  DEFAULT_CONNECTION,
  MEANING,
  type ResolvingUpdate,
  nairobiTime,
  plainLine,
} from "../../contract/index.ts";
import { shellWord } from "../output.ts";
import { evidenceLines } from "../sale/evidence-lines.ts";
import type { JobScope } from "./job-command.ts";

/** What a job needs an operator for, and the commands that resolve it. */
export function attentionLines(
  attention: Attention,
  { group, argument }: { group: string; argument?: string },
  scope: JobScope,
): string[] {
  const { code, subject, message, sinceMs, resolvedBy } = attention;
  const where = [
    ...(scope.connection === DEFAULT_CONNECTION ? [] : ["--connection", scope.connection]),
    ...(scope.businessId === undefined ? [] : ["--business", shellWord(scope.businessId)]),
  ];
  const which = argument === undefined ? [] : [shellWord(argument)];
  const commands = resolvedBy
    .flatMap((update) => verbsOf(update, code, subject))
    .map(([verb, ...flags]) => ["fiscalflow", group, verb, ...which, ...flags, ...where].join(" "));
  return [
    `Needs an operator: ${code}${subject === undefined ? "" : ` (${subject})`}, since ${nairobiTime(sinceMs)}`,
    `  ${MEANING[code]}. ${message}`,
    ...evidenceLines(attention).map((line) => `  ${line}`),
    ...commands.map((command) => `    ${command}`),
  ].map(plainLine);
}

/** Each with its flags. What only an operator knows stands in angle brackets. */
function verbsOf(update: ResolvingUpdate, code: string, subject: string | undefined): [string, ...string[]][] {
  const note = ["--note", "'<how you know>'"];
  switch (update) {
    case "retry":
      return [["retry"]];
    case "acknowledge": {
      const about = subject === undefined ? [] : ["--subject", shellWord(subject)];
      return [["acknowledge", "--code", code, ...about, "--note", "'<why>'"]];
    }
    case "resolveBatch":
      return [
        ["resolve", "--processed", ...note],
        ["resolve", "--not-processed", ...note],
      ];
    default:
      return [];
  }
}
