// The gateway's own fields in a form: JSON, or in brackets, as SDKs write nested values: `provider[only][]`.
import { fail, type GatewayError } from '../../errors/index.ts';
import { scanJson } from '../wire/index.ts';
import { type FormPart, fieldOf } from './form-body.ts';

/** Which of them a part belongs to. */
export function gatewayField({ name }: FormPart, gatewayMembers: ReadonlySet<string>): string | undefined {
  const field = fieldOf(name);
  return gatewayMembers.has(field) ? field : undefined;
}

type Tree = string | number | boolean | Tree[] | { [name: string]: Tree };

interface WrittenField {
  readonly name: string;
  readonly text: string;
}

/** Their value as JSON. */
export function gatewayText(field: string, written: readonly WrittenField[]): string {
  const [first, ...more] = written;
  if (first?.name === field) {
    if (more.length > 0) throw twice(field, field);
    return scanJson(first.text, { depthMax: depthMax }).kind === 'json' ? first.text : JSON.stringify(first.text);
  }
  const holder: Record<string, Tree> = Object.create(null);
  for (const { name, text } of written) put(holder, keysOf(field, name), leafOf(field, text), name);
  return JSON.stringify(holder[field]);
}

const depthMax = 64;
const twice = (name: string, param: string): GatewayError =>
  fail('invalid_request', { message: `${name}: stands twice`, param });

const brackets = /^(?:\[[^[\]]*\])+$/;

function keysOf(field: string, name: string): readonly string[] {
  const rest = name.slice(field.length);
  if (rest === '') throw twice(field, field);
  if (!brackets.test(rest)) {
    throw fail('invalid_request', { message: `${name}: must be written as ${field}[name][]`, param: field });
  }
  return [field, ...rest.slice(1, -1).split('][')];
}

/** Only `cache` has numbers that must be written as such. */
const leafOf = (field: string, text: string): Tree => {
  if (text === 'true' || text === 'false') return text === 'true';
  return field === 'cache' && /^\d{1,9}$/.test(text) ? Number(text) : text;
};

const isIndex = (key: string | undefined): boolean => key !== undefined && /^\d*$/.test(key);

function put(holder: Record<string, Tree>, [key = '', ...rest]: readonly string[], leaf: Tree, name: string): void {
  const known = holder[key];
  const param = fieldOf(name);
  if (rest.length === 0) {
    if (known !== undefined) throw twice(name, param);
    holder[key] = leaf;
  } else if (rest.length === 1 && isIndex(rest[0])) {
    if (known !== undefined && !Array.isArray(known)) throw twice(name, param);
    holder[key] = [...(known ?? []), leaf];
  } else {
    if (known !== undefined && (typeof known !== 'object' || Array.isArray(known))) throw twice(name, param);
    const inner: Record<string, Tree> = known ?? Object.create(null);
    holder[key] = inner;
    put(inner, rest, leaf, name);
  }
}
