// Reads and writes the terminal, or the pipe, of this process. Results are written to standard output, everything else
// to standard error.
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';

export interface Style {
  /** Characters of a line, which tables do not exceed. Infinity for a pipe. */
  readonly columns: number;
  readonly isColoured: boolean;
}

export interface Terminal {
  readonly style: Style;
  /** Whether standard input and standard error are a terminal, so that a question can be read and answered. */
  readonly canAsk: boolean;
  writeOut(line: string): void;
  writeError(line: string): void;
  /** Replaces the previous line of progress; does nothing if standard error is not a terminal. */
  showProgress(text: string): void;
  ask(question: string): Promise<string>;
  /** Reads all of standard input, or hidden typing if it is a terminal. Throws if the text is too long. */
  readSecret(prompt: string): Promise<string>;
  /** Reads all of standard input as text, for a command with such an option. Throws if the text is too long. */
  readInput(maxBytes: number): Promise<string>;
}

/** Maximum length, far above any provider key. */
const secretMaxBytes = 64 * 1024;
const columnsDefault = 80;
const eraseLine = '\r\u001b[K';

/** The start and the end of a line in bold. No other escape sequences are written to a terminal. */
const bold = ['\u001b[1m', '\u001b[22m'] as const;

export const inBold = (line: string): string => bold.join(line);

/**
 * Filters all text to the terminal, because it may contain text of clients, providers and files. No character can then
 * control the terminal, and no text can create a line of its own.
 */
export const onlyText = (terminal: Terminal): Terminal => ({
  ...terminal,
  writeOut: (line) => terminal.writeOut(lineOf(line)),
  writeError: (line) => terminal.writeError(lineOf(line)),
  showProgress: (text) => terminal.showProgress(lineOf(text)),
  ask: (question) => terminal.ask(lineOf(question)),
  readSecret: (prompt) => terminal.readSecret(lineOf(prompt)),
});

/** Control characters, which include marks of text direction. */
const controls = /[\p{Cc}\p{Bidi_Control}]/gu;

function lineOf(text: string): string {
  const [start, end] = bold;
  const isBold = text.startsWith(start) && text.endsWith(end);
  const plain = isBold ? text.slice(start.length, -end.length) : text;
  const line = plain.replace(controls, '·');
  return isBold ? inBold(line) : line;
}

export function processTerminal({ stdin, stdout, stderr, env }: NodeJS.Process): Terminal {
  let hasProgress = false;
  const clearProgress = () => {
    if (hasProgress) stderr.write(eraseLine);
    hasProgress = false;
  };
  return {
    style: {
      columns: stdout.isTTY ? widthOf(stdout) : Number.POSITIVE_INFINITY,
      isColoured: stdout.isTTY && (env.NO_COLOR ?? '') === '',
    },
    canAsk: stdin.isTTY && stderr.isTTY,
    writeOut(line) {
      clearProgress();
      stdout.write(`${line}\n`);
    },
    writeError(line) {
      clearProgress();
      stderr.write(`${line}\n`);
    },
    showProgress(text) {
      if (!stderr.isTTY) return;
      stderr.write(eraseLine + text.slice(0, widthOf(stderr) - 1));
      hasProgress = true;
    },
    async ask(question) {
      clearProgress();
      return answerTo(stdin, stderr, question);
    },
    async readSecret(prompt) {
      if (!stdin.isTTY) return readAll(stdin, secretMaxBytes);
      stderr.write(prompt);
      const typed = await answerTo(stdin, new Writable({ write: (_chunk, _encoding, done) => done() }), '');
      stderr.write('\n');
      return typed;
    },
    readInput: (maxBytes) => readAll(stdin, maxBytes),
  };
}

/** Returns the width. Some terminals report 0 when they do not know it. */
const widthOf = ({ columns }: NodeJS.WriteStream): number => columns || columnsDefault;

async function answerTo(input: NodeJS.ReadStream, output: NodeJS.WritableStream, text: string): Promise<string> {
  const reader = createInterface({ input, output, terminal: true });
  // Ctrl-C and Ctrl-D answer with an empty text, which means no.
  const closed = new Promise<string>((resolve) => reader.once('close', () => resolve('')));
  try {
    return await Promise.race([reader.question(text), closed]);
  } finally {
    reader.close();
  }
}

async function readAll(input: AsyncIterable<Buffer | string>, maxBytes: number): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of input) {
    const buffer = Buffer.from(part);
    bytes += buffer.byteLength;
    if (bytes > maxBytes) throw new Error(`standard input holds more than ${maxBytes} bytes`);
    parts.push(buffer);
  }
  return Buffer.concat(parts).toString('utf8');
}
