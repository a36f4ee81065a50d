// What the bench asks: a prompt of about 2 KB, the size of a system prompt and a question.
const question = 'How much does a gateway cost, and whom? '.repeat(25);

const messages = [
  { role: 'system', content: `You answer in one sentence. ${question}` },
  { role: 'user', content: question },
];

export const jsonBody = (model: string, more: Record<string, unknown> = {}): string =>
  JSON.stringify({ model, messages, max_tokens: 512, ...more });

export const streamBody = (model: string): string => jsonBody(model, { stream: true });

/** A function is called with its input alone. */
export const functionBody = (model: string): string =>
  JSON.stringify({ model, messages: [{ role: 'user', content: question }] });
