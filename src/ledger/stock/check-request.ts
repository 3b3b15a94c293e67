import { LedgerError } from "../errors.ts";
import type { ClaimedMovement } from "./claims.ts";

/** @throws LedgerError for a generation that is none: the first is 1. */
export function checkGeneration(generation: number): void {
  if (!Number.isSafeInteger(generation) || generation < 1 || generation > 2_147_483_647)
    throw new LedgerError(`A generation is a whole number from 1, not ${generation}.`);
}

/** @throws LedgerError for a movement that could not be compared with what was claimed. */
export function checkMovement(movement: ClaimedMovement): void {
  for (const name of ["quantity", "unitPrice"] as const) {
    if (!Number.isFinite(movement[name]))
      throw new LedgerError(`A movement's ${name} is a finite number, not ${movement[name]}.`);
  }
}
