// The words of invalid_function_request: names of members, and what the function fixes, shortened. What a client wrote is
// never repeated.
import { fail, type GatewayError } from '../../errors/index.ts';

const textShownMax = 80;
const namesShownMax = 5;

export const refuse = (message: string): GatewayError => fail('invalid_function_request', { message });

export const shorten = (value: unknown): string => {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length <= textShownMax ? text : `${text.slice(0, textShownMax)}…`;
};

export const listNames = (names: readonly string[]): string =>
  `${names.slice(0, namesShownMax).map(shorten).join(', ')}${names.length > namesShownMax ? ' and others' : ''}`;
