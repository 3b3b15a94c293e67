import {
  type ApiFaultKind,
  type AuthorityFaultKind,
  type CallbackFaultKind,
  type Fault,
  type FaultOf,
  faultSchema,
  isApiFault,
  isAuthorityFault,
  isCallbackFault,
} from "./fault-schema.ts";
import { InstructionError, parseInstruction } from "./problems.ts";
import { nearest } from "./nearest.ts";
import { seededRandom } from "./seeded-random.ts";

export interface FaultBooks {
  total: number;
  byKind: Record<string, number>;
  active: (Fault & { id: number; struck: number })[];
}

interface ActiveFault {
  id: number;
  fault: Fault;
  passed: number;
  struck: number;
  /** How many more calls are taken without chance being asked. */
  leftInARow: number;
}

/** What is known of a call, by the names that a fault can match; null is "not known". */
type Facts = Readonly<Record<string, string | null | undefined>>;

/** Whether the fault, if it is one of those that can strike here, strikes this. */
type Narrowing<F extends Fault> = (fault: Fault) => fault is F;

function agrees({ match = {} }: Fault, facts: Facts): boolean {
  return Object.entries(match).every(([name, value]) =>
    Object.entries(facts).some(([fact, known]) => fact === name && known === value),
  );
}

function requireOperation(name: string, known: readonly string[]): void {
  if (known.includes(name)) return;
  const meant = nearest(name, known);
  const question = meant === undefined ? "" : ` Did you mean "${meant}"?`;
  throw new InstructionError("fault", [
    `fault.operation: there is no "${name}".${question} There are: ${known.join(", ")}`,
  ]);
}

/** The injected faults; the same seed strikes the same calls. */
export class Faults {
  /** One chance for each family: that a callback comes earlier or later must not change which calls are struck. */
  readonly #chance: { api: () => number; authority: () => number; callback: () => number };
  readonly #active = new Map<number, ActiveFault>();
  readonly #byKind = new Map<string, number>();
  #lastId = 0;

  constructor(seed: number) {
    this.#chance = {
      api: seededRandom(seed),
      authority: seededRandom(seed + 1),
      callback: seededRandom(seed + 2),
    };
  }

  /**
   * Returns the id under which `remove` takes it away.
   * @param operations the names that can be struck, besides `*`
   * @throws InstructionError for any other name: such a fault would never strike, and its test pass untested
   */
  inject(raw: unknown, operations: readonly string[]): number {
    const fault = parseInstruction("fault", faultSchema, raw);
    requireOperation(fault.operation, ["*", ...operations]);
    this.#lastId += 1;
    this.#active.set(this.#lastId, { id: this.#lastId, fault, passed: 0, struck: 0, leftInARow: 0 });
    return this.#lastId;
  }

  remove(id: number): boolean {
    return this.#active.delete(id);
  }

  clear(): void {
    this.#active.clear();
  }

  /** The first fault that strikes this call of the API; counts it. */
  strike(operation: string, when: Fault["when"], facts: Facts): FaultOf<ApiFaultKind> | undefined {
    const here = (fault: Fault): fault is FaultOf<ApiFaultKind> =>
      isApiFault(fault) && fault.when === when && (fault.operation === "*" || fault.operation === operation);
    return this.#strike(here, facts, this.#chance.api);
  }

  /** The first fault that strikes this submission to the authority; counts it. */
  strikeAuthority(facts: Facts): FaultOf<AuthorityFaultKind> | undefined {
    return this.#strike(isAuthorityFault, facts, this.#chance.authority);
  }

  /** The first of these faults that strikes this callback; counts it. */
  strikeCallback<Kind extends CallbackFaultKind>(kinds: readonly Kind[], facts: Facts): FaultOf<Kind> | undefined {
    const here = (fault: Fault): fault is FaultOf<Kind> =>
      isCallbackFault(fault) && kinds.some((kind) => kind === fault.kind);
    return this.#strike(here, facts, this.#chance.callback);
  }

  books(): FaultBooks {
    return {
      total: [...this.#byKind.values()].reduce((sum, count) => sum + count, 0),
      byKind: Object.fromEntries(this.#byKind),
      active: [...this.#active.values()].map(({ id, fault, struck }) => ({ ...fault, id, struck })),
    };
  }

  resetCounts(): void {
    this.#byKind.clear();
  }

  #strike<F extends Fault>(isHere: Narrowing<F>, facts: Facts, chance: () => number): F | undefined {
    for (const active of this.#active.values()) {
      const { fault } = active;
      if (!isHere(fault) || !agrees(fault, facts)) continue;
      active.passed += 1;
      if (active.passed <= (fault.skip ?? 0)) continue;
      if (active.leftInARow > 0) active.leftInARow -= 1;
      else if (fault.probability !== undefined && chance() >= fault.probability) continue;
      else active.leftInARow = (fault.inARow ?? 1) - 1;
      active.struck += 1;
      if (fault.times !== undefined && active.struck >= fault.times) this.#active.delete(active.id);
      this.#byKind.set(fault.kind, (this.#byKind.get(fault.kind) ?? 0) + 1);
      return fault;
    }
    return undefined;
  }
}
