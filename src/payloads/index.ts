/**
 * Encrypts what Temporal keeps of workflows, by keys that Temporal never has: the codec of every client and worker. What
 * Temporal's API answers is read through `decoded`, so that a failure shows its own words.
 *
 * Stands on: nothing of ours.
 */
export { dataConverterOf, isUndecodable } from "./codec.ts";
export { keysBeyond } from "./keys-in-use.ts";
