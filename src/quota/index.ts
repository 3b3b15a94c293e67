export { type CallClass, callingAs } from "./call-class.ts";
export { CircuitBreaker } from "./circuit-breaker.ts";
export { FleetCount } from "./fleet-count.ts";
export { RateLimiter, type RateLimiterWatch } from "./rate-limiter.ts";
export { reserveFor } from "./reserve.ts";
export { budgetRules } from "./rules.ts";
