import type { Item, StockAdjustment } from "../contract/documents.ts";
import type { AnswerMeta } from "./errors.ts";
import { CLASSIFICATION_TABLES, type ClassificationRules } from "./classification-tables.ts";
import type { ComplianceDialect } from "./dialect.ts";
import type { OperationName } from "./operations.ts";
import {
  type Classification,
  type Outcome,
  outcomeOfAnswer,
  outcomeOfError,
  outcomeOfItem,
  outcomeOfMovement,
} from "./outcome.ts";

/**
 * What the outcome of a call means: the first row of its table that matches. An answer that fits no row is
 * `unexpected`, which nobody repeats blindly and nobody drops; where it can have had an effect that no key guards, its
 * table ends in a row that says `unknown`.
 */
export function classify(operation: OperationName, outcome: Outcome, rules: ClassificationRules): Classification {
  for (const row of CLASSIFICATION_TABLES[operation]) {
    const classification = row.judge(outcome, rules);
    if (classification !== undefined) return classification;
  }
  return { kind: "unexpected" };
}

export interface ClassifyOptions {
  /** registerItem: whether `force` was asked for. */
  forceAsked?: boolean | undefined;
  /** createSale: how far the key is trusted; default: as the dialect says. */
  saleKey?: ClassificationRules["saleKey"] | undefined;
}

export function rulesOf(
  dialect: ComplianceDialect,
  { forceAsked = false, saleKey = dialect.createSale.idempotencyKey }: ClassifyOptions = {},
): ClassificationRules {
  return {
    saleKey,
    alreadyCredited: dialect.errors.alreadyCredited,
    forceAsked,
  };
}

/** What an error that a method of the client threw means. An error of any other origin counts as a lost answer. */
export function classifyError(
  operation: OperationName,
  error: unknown,
  dialect: ComplianceDialect,
  options?: ClassifyOptions,
): Classification {
  return classify(operation, outcomeOfError(operation, error), rulesOf(dialect, options));
}

type Returned<Data> = { data: Data; meta: AnswerMeta };

export function classifyItem(result: Returned<Item>, dialect: ComplianceDialect): Classification {
  return classify(result.meta.operation, outcomeOfItem(result.data, result.meta), rulesOf(dialect));
}

export function classifyMovement(result: Returned<StockAdjustment>, dialect: ComplianceDialect): Classification {
  return classify(result.meta.operation, outcomeOfMovement(result.data, result.meta), rulesOf(dialect));
}

export function classifyAnswer(result: Returned<unknown>, dialect: ComplianceDialect): Classification {
  return classify(result.meta.operation, outcomeOfAnswer(result.meta), rulesOf(dialect));
}
