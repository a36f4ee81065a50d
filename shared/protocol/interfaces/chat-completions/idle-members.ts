/** Members that frameworks always send and that ask for nothing. */
const idle: Readonly<Record<string, (value: unknown) => boolean>> = {
  stream: (value) => value === false,
  n: (value) => value === 1,
  tools: (value) => Array.isArray(value) && value.length === 0,
  store: (value) => value === false,
  parallel_tool_calls: () => true,
};

/** A copy without members that ask for nothing, null included. */
export const withoutIdleMembers = (raw: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(raw).filter(
      ([name, value]) => value !== null && !(Object.hasOwn(idle, name) && idle[name]?.(value) === true),
    ),
  );
