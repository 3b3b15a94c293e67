type Call = (...args: unknown[]) => unknown;

/** The same activities, each call of which is made by `around`. */
export function eachCall<Activities extends object>(
  activities: Activities,
  around: (call: Call, args: unknown[]) => unknown,
): Activities {
  return new Proxy(activities, {
    get(target, name, receiver): unknown {
      const call: unknown = Reflect.get(target, name, receiver);
      if (typeof call !== "function") return call;
      return (...args: unknown[]): unknown => around(call as Call, args);
    },
  });
}
