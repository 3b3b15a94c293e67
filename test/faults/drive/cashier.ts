import { SIGNALS } from "../../../src/contract/index.ts";
import type { SaleKey } from "../../../src/starter/index.ts";
import type { PlannedSale } from "../plan/planned-sale.ts";
import type { FaultStack } from "../stack/fault-stack.ts";
import type { OpenWorkflow } from "./open-workflows.ts";
import { askUntilAnswered } from "./ask-until-answered.ts";

export interface CashierOptions {
  readonly stack: FaultStack;
  readonly signal: AbortSignal;
  /** Whether an operator ended or changed a run of it by hand: then its refund may have to be asked for again. */
  readonly isTouched: (workflowId: string) => boolean;
  readonly onStarted: (key: SaleKey) => void;
}

/** Starts the planned sales and asks for their refunds, as the services of a shop would. */
export class Cashier {
  readonly #stack: FaultStack;
  readonly #signal: AbortSignal;
  readonly #sales = new Map<string, PlannedSale>();
  /** Of sales that are still to be refunded. */
  readonly #refunds = new Map<string, PlannedSale>();
  /** Of sales whose refund was asked for by a signal, which nobody answers. */
  readonly #signalled = new Map<string, PlannedSale>();
  readonly #underWay = new Set<Promise<void>>();
  readonly #isTouched: CashierOptions["isTouched"];
  readonly #onStarted: CashierOptions["onStarted"];
  readonly problems: string[] = [];

  constructor({ stack, signal, isTouched, onStarted }: CashierOptions) {
    this.#stack = stack;
    this.#signal = signal;
    this.#isTouched = isTouched;
    this.#onStarted = onStarted;
  }

  /** By workflow id, in the order in which they were started. */
  get sales(): ReadonlyMap<string, PlannedSale> {
    return this.#sales;
  }

  /**
   * What it has begun and not yet brought to an end. A refund that was asked for by a signal is asked for again only if
   * somebody ends the run that had the signal.
   */
  get busy(): number {
    return this.#underWay.size + this.#refunds.size;
  }

  start(sale: PlannedSale): void {
    const { simulator, starter } = this.#stack;
    const { number: invoice, connection, businessId } = sale;
    const key = { invoice, connection, businessId };
    const workflowId = starter.workflowId(key);
    this.#sales.set(workflowId, sale);
    for (const item of sale.ownItems) simulator.addItem(item);
    simulator.setAuthority(invoice, sale.authority);
    if (sale.refund) simulator.setAuthority(sale.refund.request.traderInvoiceNumber, sale.refund.authority);
    for (const fault of sale.faults) simulator.inject(fault);
    this.#carry(sale, async () => {
      const callers = sale.startedTwice ? [1, 2] : [1];
      await Promise.all(callers.map(() => this.#ask(() => starter.startSale(sale.input))));
      this.#onStarted(key);
      if (sale.refund?.when === "at-once") {
        await this.#signalRefund(workflowId, sale.refund.request);
        this.#signalled.set(workflowId, sale);
      } else if (sale.refund) this.#refunds.set(workflowId, sale);
    });
  }

  /** Asks for the refunds whose time has come. */
  look(open: readonly OpenWorkflow[]): void {
    const running = new Map(open.map((workflow) => [workflow.workflowId, workflow]));
    // An ended run may not have noted the signal yet: the run that carries the sale on does not know of it.
    for (const [workflowId, sale] of this.#signalled) {
      const isOpenForIt = running.get(workflowId)?.stage === "completed" || !running.has(workflowId);
      if (!this.#isTouched(workflowId) || !isOpenForIt) continue;
      this.#signalled.delete(workflowId);
      this.#refunds.set(workflowId, sale);
    }
    for (const [workflowId, sale] of this.#refunds) {
      const { refund } = sale;
      const stage = running.get(workflowId)?.stage;
      const isOver = !running.has(workflowId);
      // A cancellation by a button ends a signed sale's window.
      const isDue =
        refund?.when === "after-its-window" ? isOver : stage === "completed" || (isOver && this.#isTouched(workflowId));
      if (!isDue) continue;
      this.#refunds.delete(workflowId);
      this.#carry(sale, () => this.#refund(workflowId, sale));
    }
  }

  async #refund(workflowId: string, sale: PlannedSale): Promise<void> {
    const { starter, client } = this.#stack;
    const { refund, number: invoice, connection, businessId } = sale;
    if (!refund) return;
    // A search lags behind: only the sale itself says that it is closed.
    const { status } = await this.#ask(() => client.workflow.getHandle(workflowId).describe());
    if (refund.when === "after-its-window" && status.name === "RUNNING") {
      this.#refunds.set(workflowId, sale);
      return;
    }
    try {
      await this.#ask(() => starter.refund({ invoice, connection, businessId }, refund.request));
    } catch (error) {
      if (this.#signal.aborted || !this.#isTouched(workflowId)) throw error;
      // Cancelled by a button: there is nothing to refund. Otherwise it is carried on soon.
      const state = await this.#ask(() => starter.getSale({ invoice, connection, businessId })).catch(() => undefined);
      if (state?.stage !== "cancelled") this.#refunds.set(workflowId, sale);
    }
  }

  #signalRefund(workflowId: string, request: object): Promise<void> {
    const handle = this.#stack.client.workflow.getHandle(workflowId);
    return this.#ask(() => handle.signal<[object]>(SIGNALS.refundRequested, request));
  }

  #ask<T>(ask: () => Promise<T>): Promise<T> {
    return askUntilAnswered(this.#stack.client, this.#signal, ask);
  }

  #carry(sale: PlannedSale, work: () => Promise<void>): void {
    const carried = work()
      .catch((error: unknown) => {
        this.problems.push(`${sale.number} (${sale.shape}): ${error instanceof Error ? error.message : String(error)}`);
      })
      .finally(() => this.#underWay.delete(carried));
    this.#underWay.add(carried);
  }
}
