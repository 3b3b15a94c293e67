import { setHandler, type SignalDefinition, type WorkflowInternalsInterceptor } from "@temporalio/workflow";

import { payloadConverter, UnreadablePayload } from "./payload-converter.ts";

type Activation = Parameters<NonNullable<WorkflowInternalsInterceptor["activate"]>>[0]["activation"];
type Signal = NonNullable<NonNullable<NonNullable<Activation["jobs"]>[number]["signalWorkflow"]>>;

/** By the signal's name: those of an activation that the workflow has not been given yet. */
const waiting = new Map<string, Signal[]>();
const handled = new Set<string>();
let started = false;

let received = 0;
let unread = 0;
let whenUnread = (): void => {};

/** How many signals this run has received. */
export function signalsReceived(): number {
  return received;
}

/** How many of them changed nothing: they could not be read, or the workflow has none of their name. */
export function unreadSignals(): number {
  return unread;
}

/** @param listener called once an activation has brought signals that could not be read */
export function onUnreadSignals(listener: () => void): void {
  whenUnread = listener;
}

/**
 * Handles a signal. To be called before the workflow's first await: a signal that has no handler by then changes
 * nothing.
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
 * Hands on one signal of each name in an activation, whose handler then takes all of that name. Each signal that the
 * SDK delivers itself costs some ten promises, each with its stack, and a look at every pending condition: thousands of
 * them in one activation took seconds. It also keeps signals that have no handler for ever.
 */
export const joinSignalsInterceptor: WorkflowInternalsInterceptor = {
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
