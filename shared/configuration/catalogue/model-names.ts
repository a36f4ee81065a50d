// What a model takes that its name tells, at whatever host.

/** Dots between digits are dashes: hosts and catalogues write both. */
export const plainModelName = (name: string): string => name.toLowerCase().replaceAll(/(?<=\d)\.(?=\d)/g, '-');

/** OpenAI's own models that think: they take no temperature then, no stops, and their output bound under its newer name. */
export const isOpenAiThinker = (...names: readonly string[]): boolean =>
  names.some((name) => /(^|[./])(gpt-(?!5-chat)[5-9]|o[1-9](-|$))/.test(plainModelName(name)));

/** From GPT-5.4 on they refuse tools together with an effort on chat completions. */
export const thinksWithToolsOnResponsesOnly = (...names: readonly string[]): boolean =>
  names.some((name) => /(^|[./])gpt-(5-([4-9]|\d\d)(?!\d)|[6-9])/.test(plainModelName(name)));
