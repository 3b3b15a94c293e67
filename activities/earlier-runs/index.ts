export { EarlierRuns } from "./earlier-runs.ts";
export { EarlierRunsUnreadError } from "./unread-error.ts";
