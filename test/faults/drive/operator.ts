import { ServiceError, WorkflowNotFoundError } from "@temporalio/client";

import { type Attention, STATE_QUERY, type WorkflowState } from "../../../src/contract/index.ts";
import {
  NoAnswerError,
  NotAllowedError,
  SaleNotFoundError,
  TemporalUnavailableError,
} from "../../../src/starter/errors.ts";
import { operations } from "../../../src/starter/operate.ts";
import type { PlannedSale } from "../plan/planned-sale.ts";
import type { FaultStack } from "../stack/fault-stack.ts";
import type { OpenWorkflow } from "./open-workflows.ts";
import { askUntilAnswered } from "./ask-until-answered.ts";

/** An attention as an operator met it: found by a search, read in the workflow. */
export interface SeenAttention extends Pick<Attention, "code" | "subject" | "message" | "evidence" | "sinceMs"> {
  readonly workflowId: string;
}

export interface OperatorOptions {
  readonly stack: FaultStack;
  readonly sales: ReadonlyMap<string, PlannedSale>;
  readonly signal: AbortSignal;
  /** Whether somebody pressed buttons on it: then an answer may come too late for the run that it was meant for. */
  readonly isTouched: (workflowId: string) => boolean;
}

type Answers = ReturnType<typeof operations<string>>;

/**
 * Does what the runbook says of each code. What was applied or created is looked up in the simulator's books, as in a
 * dashboard.
 */
export class Operator {
  readonly #options: OperatorOptions;
  readonly #answers: Answers;
  readonly #attending = new Set<string>();
  readonly #seen = new Map<string, SeenAttention>();
  readonly problems: string[] = [];

  constructor(options: OperatorOptions) {
    this.#options = options;
    this.#answers = operations(options.stack.client, "fault suite");
  }

  get seen(): SeenAttention[] {
    return [...this.#seen.values()];
  }

  /** Attends to all that a search for `FiscalAttention` shows, each beside the others. */
  look(open: readonly OpenWorkflow[]): void {
    for (const { workflowId, attention } of open) {
      if (attention === undefined || this.#attending.has(workflowId)) continue;
      this.#attending.add(workflowId);
      void this.#attend(workflowId)
        .catch((error: unknown) => {
          // Between the look and the answer it was resolved by itself, or closed, or the worker that had to take it was
          // killed.
          const away = [NoAnswerError, TemporalUnavailableError, ServiceError];
          const expected = [NotAllowedError, SaleNotFoundError, WorkflowNotFoundError, ...away];
          if (expected.some((kind) => error instanceof kind) || this.#options.isTouched(workflowId)) return;
          this.problems.push(`${workflowId}: ${error instanceof Error ? error.message : String(error)}`);
        })
        .finally(() => this.#attending.delete(workflowId));
    }
  }

  async #attend(workflowId: string): Promise<void> {
    const { client } = this.#options.stack;
    const state = await this.#ask(() => client.workflow.getHandle(workflowId).query<WorkflowState>(STATE_QUERY));
    for (const attention of state.attentions) {
      const { code, subject, message, evidence, sinceMs } = attention;
      this.#seen.set(JSON.stringify([workflowId, code, subject, sinceMs]), {
        workflowId,
        code,
        subject,
        message,
        evidence,
        sinceMs,
      });
      const answer = this.#answerTo(workflowId, attention, state);
      // Never sent again by itself: it is an answer to what was read just now, and an operator who hears nothing looks
      // again.
      if (answer) await answer();
    }
  }

  /** Undefined: it is too early to say. */
  #answerTo(
    workflowId: string,
    attention: Attention,
    { stage, refund }: WorkflowState,
  ): (() => Promise<unknown>) | undefined {
    const { stack } = this.#options;
    const { code, subject } = attention;
    const note = "said by the books";
    const about = { code, ...(subject !== undefined && { subject }) };
    switch (code) {
      case "stock-unknown": {
        const referenceId = subject ?? "";
        if (stack.underWay.about(referenceId)) return undefined;
        const applied = stack.simulator.books().movements.some((movement) => movement.referenceId === referenceId);
        return () => this.#answers.resolveStock(workflowId, { referenceId, applied, note });
      }
      case "document-unknown": {
        const ofSale = this.#options.sales.get(workflowId)?.number;
        const number = (stage === "crediting" ? refund?.traderInvoiceNumber : ofSale) ?? "";
        if (stack.underWay.about(number)) return undefined;
        const [found] = stack.simulator.documents(number);
        const said = found ? { saleId: found.id } : ({ notCreated: true } as const);
        return () => this.#answers.resolveDocument(workflowId, { ...said, note });
      }
      case "item-needs-data": {
        const registered = /[02468]$/.test(subject ?? "");
        stack.simulator.updateItem(subject ?? "", {
          needs: {},
          ...(registered && { registrationStatus: "REGISTERED" }),
        });
        // What the dashboard registers itself goes on by itself.
        return registered ? undefined : () => this.#answers.retry(workflowId, about);
      }
      case "rejected":
        if (this.#options.sales.get(workflowId)?.onRejection === "cancel")
          return () => this.#answers.cancel(workflowId, { reason: "the authority will not have it" });
        return () => this.#answers.retry(workflowId, about);
      default:
        return attention.resolvedBy.includes("retry")
          ? () => this.#answers.retry(workflowId, about)
          : () => this.#answers.acknowledge(workflowId, { ...about, note });
    }
  }

  #ask<T>(ask: () => Promise<T>): Promise<T> {
    return askUntilAnswered(this.#options.stack.client, this.#options.signal, ask);
  }
}
