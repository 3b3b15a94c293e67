/**
 * The request budget of an application, counted for all workers together, and the circuit breaker of a service that
 * tells no limit. They stand in front of a transport that `src/worker/runtimes.ts` hands in, with the ledger's counts;
 * which poll a worker opens is decided in `src/worker/permits.ts`.
 *
 * Stands on: `src/http`, `src/ledger` (types).
 */
export { budgetRules, type CallClass, callingAs, failsEveryCall, reserveFor } from "./budget.ts";
export { CircuitBreaker } from "./circuit-breaker.ts";
export { FleetCount } from "./fleet-count.ts";
export { RateLimiter, type RateLimiterWatch } from "./rate-limiter.ts";
