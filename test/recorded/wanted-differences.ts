// Differences that are wanted between a client's turn and what the package of the provider's format reads in its
// answer.
import type { ClientName } from '../support/client-turns.ts';
import type { Aspect } from '../support/recorded-turn.ts';
import type { RecordedAnswer } from './recorded-answers.ts';

interface WantedDifference {
  /** Matches names of answers. */
  readonly answers: RegExp;
  /** The default is every client. */
  readonly clients?: readonly ClientName[];
  readonly aspects: readonly Aspect[];
  readonly reason: string;
}

const differences: readonly WantedDifference[] = [
  {
    answers: /^amazon-bedrock\/amazon-bedrock-json-(tool|with-tools)\.\d\.chunks/,
    aspects: ['tokens'],
    reason: 'The provider reports none: the gateway estimates them.',
  },
  {
    answers:
      /^anthropic\/anthropic-(programmatic-tool-calling|tool-search-bm25)\.1\.chunks|-tool-search-deferred-regex\.chunks/,
    aspects: ['text', 'calls'],
    reason: 'The file holds the streams of several turns, and an answer ends where its format says so.',
  },
  {
    answers: /^openai\/responses\/openai-shell-tool\.1\.chunks/,
    aspects: ['text', 'tokens'],
    reason: 'The file holds the streams of several turns.',
  },
  {
    answers: /^anthropic\/anthropic-programmatic-tool-calling\.1\.json/,
    clients: ['chat-completions', 'responses'],
    aspects: ['end'],
    reason: 'The file joins several turns: a turn with calls of the client’s tools ends with them.',
  },
  {
    answers: /^anthropic\/anthropic-compaction\.1\./,
    clients: ['messages'],
    aspects: ['text', 'tokens'],
    reason:
      'A relayed summary is a block of its own, and its tokens are in `usage.iterations`; the package adds both up.',
  },
  {
    answers: /^anthropic\/duplicate-message-start/,
    clients: ['messages'],
    aspects: ['error'],
    reason: 'A faulty stream is relayed as it is: the official SDK refuses it as it does at the provider.',
  },
  {
    answers: /^openai\/responses\/github-copilot-id-rotation/,
    clients: ['responses'],
    aspects: ['error'],
    reason: 'A response whose id changes is relayed as it is: the official SDK refuses it as it does at the provider.',
  },
  {
    answers: /^openai\/responses\/openai-apply-patch-tool\.1\.chunks/,
    clients: ['responses'],
    aspects: ['error'],
    reason: 'The helper of the official SDK knows no events of patches; they are relayed.',
  },
  {
    answers: /^openai\/responses\/openai-(apply-patch|local-shell|shell)/,
    aspects: ['calls', 'end'],
    reason:
      'Only clients of Responses can declare these tools; their calls are items of their own there, and no functions.',
  },
  {
    answers: /^openai\/responses\/openai-(phase|shell-container)\.1\.chunks/,
    clients: ['responses'],
    aspects: ['text'],
    reason: 'The file lacks pieces: the helper takes the whole texts at the end, the package only the pieces.',
  },
  {
    answers: /(^xai|^openai-compatible\/chat)\/xai-(text|tool-call)\./,
    clients: ['chat-completions'],
    aspects: ['tokens'],
    reason: 'A relayed usage keeps reasoning beside the completion, as its provider counts it; it is charged.',
  },
  {
    answers: /^moonshotai\/moonshotai-reasoning\.json/,
    aspects: ['tokens'],
    reason: 'Cached tokens under the provider’s own name are read; the package does not know it.',
  },
  {
    answers: /^xai\/responses\/xai-(code-execution|file-search|web-search)-tool/,
    aspects: ['error'],
    reason: 'The package refuses items of this provider that the gateway passes over.',
  },
  {
    answers: /^mistral\/mistral-(incremental-tool-call|reasoning|tool-call)\./,
    clients: ['chat-completions'],
    aspects: ['text', 'thinking', 'calls', 'error'],
    reason:
      'A relayed answer keeps what this provider writes otherwise than OpenAI: no role, calls without type and index, parts.',
  },
];

/** Returns the reason of a difference. A difference without a reason is a fault. */
export const reasonOf = ({ name }: RecordedAnswer, client: ClientName, aspect: Aspect): string | undefined =>
  differences.find(
    ({ answers, clients, aspects }) =>
      answers.test(name) && (clients?.includes(client) ?? true) && aspects.includes(aspect),
  )?.reason;
