export { type CallClass, callingAs } from "./budget.ts";
export { CircuitBreaker } from "./circuit-breaker.ts";
export { FleetCount } from "./fleet-count.ts";
export { RateLimiter, type RateLimiterWatch } from "./rate-limiter.ts";
export { reserveFor } from "./budget.ts";
export { budgetRules } from "./budget.ts";
