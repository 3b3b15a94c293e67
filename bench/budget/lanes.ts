/**
 * A lane is one application of the simulated service with its own limit, and those who work on it. Lanes of one phase
 * run side by side: each has a budget of its own, and a few calls a second are nothing for the machine.
 */
export interface Lane {
  /** Also the name of the application and of its connection: `^[a-z0-9-]{1,32}$`. */
  readonly name: string;
  /** As the table tells it. */
  readonly title: string;
  readonly runner: Runner;
  readonly processes: number;
  readonly load: Load;
  /** Of the same application, each with a key of its own. Default 1. */
  readonly keys?: number;
}

/** `product`: fiscalflow as it is built. The others do the same calls in a way that is at hand. */
export type Runner = "product" | "fixed-slots" | "per-second" | "bullmq";

export interface Load {
  /**
   * Endless: of which class of work. `one-big` is interactive work of twenty businesses, one of which has nearly all.
   */
  readonly backlog: "interactive" | "background" | "one-big";
  /** Interactive jobs at random moments: this share of the limit. */
  readonly arrivals?: number;
  /** Somebody else on the same application: this share of the limit, at random moments. */
  readonly stranger?: number;
}

export interface Phase {
  readonly lanes: readonly Lane[];
  /** Product processes that serve it. */
  readonly processes: number;
  /** The database of the product is cut off in the middle of it. */
  readonly ledgerCut?: true;
  /** Left out of the default run, which has twelve minutes. */
  readonly fullOnly?: true;
}

export const PROCESSES = 3;
const MANY_PROCESSES = 8;
const FIFTH = 0.2;

const ALONE: Load = { backlog: "interactive" };
const STRANGER: Load = { backlog: "interactive", stranger: FIFTH };
const MIXED: Load = { backlog: "background", arrivals: FIFTH };

function product(name: string, title: string, load: Load, more: Partial<Lane> = {}): Lane {
  return { name, title, runner: "product", processes: PROCESSES, load, ...more };
}

function rivals(runner: Exclude<Runner, "product">, short: string): [Lane, Lane, Lane] {
  const lane = (name: string, title: string, load: Load): Lane => ({
    name: `${short}-${name}`,
    title,
    runner,
    processes: PROCESSES,
    load,
  });
  return [
    lane("alone", "interactive alone", ALONE),
    lane("stranger", "a stranger takes a fifth", STRANGER),
    lane("mixed", "interactive before background", MIXED),
  ];
}

/** All there is to run, one phase after the other. */
export function phases(withRedis: boolean): Phase[] {
  const [fixedAlone, fixedStranger, fixedMixed] = rivals("fixed-slots", "fixed");
  const [secondAlone, secondStranger, secondMixed] = rivals("per-second", "second");
  const [bullAlone, bullStranger, bullMixed] = rivals("bullmq", "bullmq");
  const bull = (lane: Lane): Lane[] => (withRedis ? [lane] : []);
  return [
    {
      processes: PROCESSES,
      lanes: [
        product("alone", "interactive alone", ALONE),
        product("mixed", "interactive before background", MIXED),
        product("keys", "two keys of one application", ALONE, { keys: 2 }),
        product("stranger", "a stranger takes a fifth", STRANGER),
        product("fair", "one business of twenty has 95 %", { backlog: "one-big" }),
      ],
    },
    {
      processes: MANY_PROCESSES,
      lanes: [product("many", "interactive alone, 8 processes", ALONE, { processes: MANY_PROCESSES })],
    },
    {
      processes: PROCESSES,
      ledgerCut: true,
      fullOnly: true,
      lanes: [product("ledger", "interactive alone, the database cut off", ALONE)],
    },
    { processes: 0, lanes: [fixedAlone, secondAlone, ...bull(bullAlone), secondStranger] },
    { processes: 0, lanes: [fixedStranger, ...bull(bullStranger), fixedMixed, secondMixed, ...bull(bullMixed)] },
  ];
}

/** Those that were asked for. @throws when there is no such lane */
export function chosen(all: readonly Phase[], { only, full }: { only: readonly string[]; full: boolean }): Phase[] {
  if (only.length === 0) return all.filter(({ fullOnly }) => full || fullOnly !== true);
  const names = new Set(all.flatMap(({ lanes }) => lanes.map(({ name }) => name)));
  for (const name of only)
    if (name !== LONE && !names.has(name))
      throw new Error(`--only: there is no lane ${name}; there are ${[LONE, ...names].join(", ")}`);
  return all
    .map((phase) => ({ ...phase, lanes: phase.lanes.filter(({ name }) => only.includes(name)) }))
    .filter(({ lanes }) => lanes.length > 0);
}

/** The pairs of lone sales: no lane of their own, since nothing runs beside them. */
export const LONE = "lone";
export const UNLIMITED = "unlimited";
