// What a change was made to, in the log line of its request: the first names, and how many more.

const namesInLine = 20;

export const namesOf = (changed: readonly string[]): string =>
  changed.length <= namesInLine
    ? changed.join(', ')
    : `${changed.slice(0, namesInLine).join(', ')} and ${changed.length - namesInLine} more`;
