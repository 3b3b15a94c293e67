import type { Config } from "../../config/index.ts";
import type { WorkflowType } from "../../contract/index.ts";
import type { Scope } from "../sale/scope.ts";

/** Which business a job is for, with what the configuration adds. */
export interface JobScope {
  connection: string;
  businessId?: string | undefined;
}

export type ScopeOf = (config: Config, flags: Scope) => JobScope;

/** A workflow without a document, as the command line starts it and shows it. */
export interface JobCommand<Progress, Result> {
  /** The workflow's type. */
  workflow: WorkflowType;
  /** In a sentence: `synchronisation`. */
  noun: string;
  /** The words before a verb: `fiscalflow purchases`. */
  group: string;
  workflowId: (scope: JobScope) => string;
  /** What the flags name; default: a business, with what the configuration adds. @throws UsageError */
  scopeOf?: ScopeOf;
  /** Of the workflow's input, beside the scope. */
  input?: object;
  /** What stands between the verb and the flags of a command: `batch retry ID`. */
  argument?: string;
  /**
   * The signal by which a job that runs already is asked for what the options say; without, such options are refused.
   */
  askedBy?: string;
  /** How far it is, in one line. */
  progressLine: (progress: Progress) => string;
  /** What came of it, as a text. */
  resultText: (result: Result) => string;
  /** The same in a list of many: what was done, and whether somebody has to look. */
  inAFewWords: (result: Result) => string;
  /** What a caller who waited no longer must not take for granted. */
  unended?: string;
  /** Whether the result is one that the command ends with 1 for. */
  failed?: (result: Result) => boolean;
}

export interface JobFlags extends Scope {
  json?: boolean;
  wait?: true | number;
}

/** Of a synchronisation: rows that are not of their form; empty for none. */
export function leftOutText(leftOut: number | undefined): string {
  return leftOut === undefined
    ? ""
    : `, ${leftOut} left out because they do not have the documented form (see fiscalflow doctor)`;
}
