/**
 * Workarounds for the SDK (decision 15): what a workflow is given and cannot read, signals that come together, updates
 * and the end of a run; how failures are written, and what is counted. No step of a sale or a job is in here.
 *
 * Stands on: `src/contract`.
 */
import {
  DefaultFailureConverter,
  defaultPayloadConverter,
  type Payload,
  type PayloadConverter,
} from "@temporalio/common";
import {
  allHandlersFinished,
  ApplicationFailure,
  CancellationScope,
  condition,
  inWorkflowContext,
  metricMeter,
  setHandler,
  type SignalDefinition,
  type WorkflowInboundCallsInterceptor,
  type WorkflowInterceptors,
  type WorkflowInternalsInterceptor,
  type WorkflowOutboundCallsInterceptor,
} from "@temporalio/workflow";

import {
  type AttentionCode,
  FAILURES,
  type InvalidInputDetails,
  invalidInputInWords,
  type MovementState,
} from "../../src/contract/index.ts";

/** The interceptors of every workflow, bundled with the workflows. */
export function interceptors(): WorkflowInterceptors {
  return {
    internals: [deferUpdatesInterceptor, joinSignalsInterceptor, joinAttributesInterceptor],
    inbound: [readableInput, countingUpdates],
    outbound: [countingCalls],
  };
}

/**
 * A turn is one pass of the SDK over the pending conditions: steps go on whose condition an earlier step has made true.
 * No workflow has a chain of half as many.
 */
const MOST_TURNS = 10;

let deferredUpdates = 0;

/**
 * Delivers the updates of an activation after everything else in it (decision 15). An update and the other jobs may
 * come in one activation when the workflow runs and in two in a replay, or the other way round.
 */
const deferUpdatesInterceptor: WorkflowInternalsInterceptor = {
  activate({ activation, batchIndex }, next) {
    const jobs = activation.jobs ?? [];
    const updates = jobs.filter((job) => job.doUpdate);
    if (updates.length === 0) return next({ activation, batchIndex });
    const others = jobs.filter((job) => !job.doUpdate);
    deferredUpdates += updates.length;
    next({ activation: { ...activation, jobs: others }, batchIndex });
    // `next` is called outside this scope, so that update handlers run in the root scope, as without the interceptor.
    void CancellationScope.nonCancellable(() => endOfTurns(MOST_TURNS)).then(() => {
      deferredUpdates -= updates.length;
      next({ activation: { ...activation, jobs: updates }, batchIndex });
    });
  },
};

/**
 * Sets search attributes at most once in an activation: each command of its own would be an event, and a write of
 * Temporal's visibility store. What is set last counts.
 */
const joinAttributesInterceptor: WorkflowInternalsInterceptor = {
  concludeActivation({ commands }, next) {
    const [first, ...others] = commands.flatMap(({ upsertWorkflowSearchAttributes: upsert }) => upsert ?? []);
    if (!first || others.length === 0) return next({ commands });
    const fields = [first, ...others].map(({ searchAttributes }) => searchAttributes?.indexedFields);
    first.searchAttributes = { indexedFields: Object.assign({}, ...fields) as NonNullable<(typeof fields)[number]> };
    return next({
      commands: commands.filter(({ upsertWorkflowSearchAttributes: upsert }) => !upsert || upsert === first),
    });
  },
};

/** Whether each update has its answer. To be awaited before a run completes or continues as new. */
export function everyUpdateIsAnswered(): boolean {
  return deferredUpdates === 0 && allHandlersFinished();
}

type Activation = Parameters<NonNullable<WorkflowInternalsInterceptor["activate"]>>[0]["activation"];
type Signal = NonNullable<NonNullable<NonNullable<Activation["jobs"]>[number]["signalWorkflow"]>>;

/** By the signal's name: those of an activation that the workflow has not been given yet. */
const waiting = new Map<string, Signal[]>();
const handled = new Set<string>();
let started = false;

let received = 0;
let unread = 0;
let whenUnread = (): void => {};

/** How many of them changed nothing: they could not be read, or the workflow has none of their name. */
export function unreadSignals(): number {
  return unread;
}

/** @param listener called once an activation has brought signals that could not be read */
export function onUnreadSignals(listener: () => void): void {
  whenUnread = listener;
}

/**
 * To be called before the workflow's first await: a signal that has no handler by then changes nothing.
 * @param handler takes what anybody may have sent: any JSON, or nothing
 */
export function onSignal<Content>(
  signal: SignalDefinition<[Content?]>,
  handler: (content: Content | undefined) => void,
): void {
  const { name } = signal;
  const take = (content: Content | UnreadablePayload | undefined): void => {
    if (content instanceof UnreadablePayload) unread += 1;
    else handler(content);
  };
  handled.add(name);
  setHandler(signal, (first) => {
    const signals = waiting.get(name);
    waiting.delete(name);
    // Without the interceptor, as a test has it, the SDK delivers each one.
    if (!signals) take(first);
    for (const { input } of signals ?? []) {
      const [payload] = input ?? [];
      take(payload ? payloadConverter.fromPayload(payload) : undefined);
    }
  });
}

/**
 * Hands on one signal of each name in an activation, whose handler then takes all of that name: the SDK's own delivery
 * of thousands took seconds, and kept signals that have no handler for ever.
 */
const joinSignalsInterceptor: WorkflowInternalsInterceptor = {
  activate({ activation, batchIndex }, next) {
    const jobs = activation.jobs ?? [];
    const unreadBefore = unread;
    const others = jobs.filter(({ signalWorkflow: signal }) => !signal || isToBeHandedOn(signal));
    next({ activation: { ...activation, jobs: others }, batchIndex });
    if (!started && jobs.some(({ initializeWorkflow }) => initializeWorkflow)) {
      started = true;
      for (const signals of waiting.values()) unread += signals.length;
      waiting.clear();
    }
    if (unread > unreadBefore) whenUnread();
  },
};

function isToBeHandedOn(signal: Signal): boolean {
  const name = signal.signalName ?? "";
  received += 1;
  if (started && !handled.has(name)) {
    unread += 1;
    return false;
  }
  const earlier = waiting.get(name);
  if (earlier) earlier.push(signal);
  else waiting.set(name, [signal]);
  return !earlier;
}

/** Stands for a payload that nothing can read: of another encoding than JSON, encrypted, or no JSON after all. */
class UnreadablePayload {
  readonly reason: string;

  constructor(reason: string) {
    this.reason = reason;
  }
}

/** Of a message's content, an input or a result: why it cannot be read, as a sentence; undefined if it can. */
export function whyUnreadable(what: string, value: unknown): string | undefined {
  if (!(value instanceof UnreadablePayload)) return undefined;
  return `The ${what} cannot be read (${value.reason}). Expected one JSON object, with the encoding json/plain.`;
}

/**
 * The SDK's own throws upon a payload that it cannot read, which fails the workflow task in each replay: one such
 * signal would stop its run for ever. So it becomes a value that says why, for `whyUnreadable`.
 */
export const payloadConverter: PayloadConverter = {
  toPayload: (value, context, hint) => defaultPayloadConverter.toPayload(value, context, hint),
  fromPayload<T>(payload: Payload, ...more: [context?: object, hint?: never]): T {
    try {
      return defaultPayloadConverter.fromPayload<T>(payload, ...(more as []));
    } catch (error) {
      return new UnreadablePayload(reasonOf(payload, error)) as T;
    }
  },
};

/** A worker that encrypts sets it in front of the bundled code (`encodingFailures`): it changes no command. */
const { fiscalflowEncodesFailures = false } = globalThis as { fiscalflowEncodesFailures?: boolean };

/** The words of a failure are plain, or a payload that the worker's codec encrypts. */
export const failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: fiscalflowEncodesFailures });

/** The SDK's words where they say something, and nothing of the payload: it may hold a customer's data. */
function reasonOf({ metadata }: Payload, error: unknown): string {
  if (!metadata?.["encoding"]) return "it has no encoding";
  const message = error instanceof Error ? error.message : "";
  return message.startsWith("Unknown encoding") ? message.slice(0, MOST_WORDS) : "it is not JSON";
}

const MOST_WORDS = 100;

let steps = 0;

/** Activities scheduled and messages received. Each adds some six events to the history. */
export function stepsTaken(): number {
  return steps + received;
}

/** A refusal of what was asked, which its caller alone can correct. */
export function invalidInput(what: string, problems: readonly string[]): ApplicationFailure {
  const details: InvalidInputDetails = { what, problems };
  return ApplicationFailure.nonRetryable(invalidInputInWords(details), FAILURES.invalidInput, details);
}

/** A run whose input cannot be read has nothing to do, and nobody can correct that. */
const readableInput: WorkflowInboundCallsInterceptor = {
  async execute(input, next) {
    const why = input.args.flatMap((arg) => whyUnreadable("workflow's input", arg) ?? []);
    if (why.length > 0) throw invalidInput("workflow's input", why);
    return await next(input);
  },
};

const countingUpdates: WorkflowInboundCallsInterceptor = { handleUpdate: (input, next) => next(counted(input)) };

const countingCalls: WorkflowOutboundCallsInterceptor = { scheduleActivity: (input, next) => next(counted(input)) };

function counted<Input>(input: Input): Input {
  steps += 1;
  return input;
}

/** Resolves one turn later: the steps that the same activation unblocked have run by then. */
export function endOfTurn(): Promise<void> {
  let evaluations = 0;
  return condition(() => (evaluations += 1) > 1);
}

/** Makes few promises: the SDK records a stack trace for each, again in every replay. */
function endOfTurns(count: number): Promise<void> {
  return new Promise((resolve) => {
    const turn = (left: number): void => {
      if (left === 0) resolve();
      else void endOfTurn().then(() => turn(left - 1));
    };
    turn(count);
  });
}

/**
 * What workflows count (docs/monitoring.md). A replay counts nothing again; a run that was reset may, and so may a task
 * that is repeated, since its end did not reach the server. Labels come from closed lists, since each value is a time
 * series: never a business, a number or a text of the service.
 */
const COUNTED_STATES: readonly MovementState[] = ["applied", "refused", "unknown", "dropped"];

interface Of {
  /** Undefined until the workflow is prepared. */
  connection: string | undefined;
  type: "sale" | "credit_note";
}

/** `rejected`: by the authority, each time that it says so. `given-up`: there will be no document. */
export function countDocument({ connection = "", type }: Of, outcome: "signed" | "rejected" | "given-up"): void {
  count("fiscalflow_documents", "documents, by what became of them", { connection, type, outcome });
}

/** @param forMs since its workflow began */
export function timeReceipt({ connection = "", type }: Of, forMs: number): void {
  if (!inWorkflowContext()) return;
  const meaning = "from the start of a sale's workflow to its receipt";
  metricMeter
    .createHistogram("fiscalflow_receipt", "float", "seconds", meaning)
    .record(forMs / 1_000, { connection, type });
}

export function countMovement({ connection = "" }: Of, state: MovementState): void {
  if (!COUNTED_STATES.includes(state)) return;
  count("fiscalflow_movements", "stock movements, by what became of them", { connection, outcome: state });
}

export function countAttention(code: AttentionCode): void {
  count("fiscalflow_attentions_raised", "times that a person was needed, by code", { code });
}

/** Tests make the state of a run without a run. */
function count(name: string, meaning: string, labels: Record<string, string>): void {
  if (inWorkflowContext()) metricMeter.createCounter(name, undefined, meaning).add(1, labels);
}
