// Guardrails that have a counterpart: those of Amazon Bedrock, words, patterns, and personal data that needs no service.
import { isMapping, type Path } from '../../../shared/configuration/gateway-file/index.ts';
import type { LiteLlmSource, Mapping } from './source.ts';

interface ImportedGuardrail {
  readonly path: Path;
  readonly guardrail: Mapping & { readonly id: string };
  /** On every call. */
  readonly isDefault: boolean;
}

/** Types of Presidio that the gateway finds in its own process. */
const personalTypes: Readonly<Record<string, string>> = {
  EMAIL_ADDRESS: 'email',
  PHONE_NUMBER: 'phone',
  CREDIT_CARD: 'card',
  IBAN_CODE: 'iban',
  IP_ADDRESS: 'ip',
};
const everyPersonalType = ['email', 'phone', 'card', 'iban', 'ip'];

export function importGuardrails(source: LiteLlmSource): readonly ImportedGuardrail[] {
  return source.list(['guardrails']).flatMap((_item, at): readonly ImportedGuardrail[] => {
    const path: Path = ['guardrails', at];
    const parameter = (name: string): Path => [...path, 'litellm_params', name];
    const name = source.text([...path, 'guardrail_name']) ?? `guardrail-${at + 1}`;
    const kind = String(source.look(parameter('guardrail')));
    const body = bodies[kind]?.(source, parameter);
    if (body === undefined) {
      source.use(path);
      source.note(
        path,
        `${name} (${kind}) is left out: kinds of the gateway are bedrock, http, words, patterns and pii`,
      );
      return [];
    }
    source.use(parameter('guardrail'));
    const id = name.replace(/[^A-Za-z0-9_-]+/g, '-').slice(0, 64);
    const isDefault = source.use(parameter('default_on')) === true;
    if (!isDefault) source.note(path, `${id} checks the calls of keys and workspaces that name it in their guardrails`);
    return [{ path, guardrail: { id, ...body, on: directions(source, parameter('mode')) }, isDefault }];
  });
}

function directions(source: LiteLlmSource, path: Path): readonly string[] {
  const written = [source.use(path)].flat();
  const isInput = written.some((mode) => mode === 'pre_call' || mode === 'during_call');
  const isOutput = written.includes('post_call');
  return isInput === isOutput ? ['input', 'output'] : isInput ? ['input'] : ['output'];
}

type Body = (source: LiteLlmSource, parameter: (name: string) => Path) => Mapping | undefined;

const bodies: Readonly<Record<string, Body>> = {
  bedrock(source, parameter) {
    const guardrail = source.text(parameter('guardrailIdentifier'));
    const version = source.text(parameter('guardrailVersion'));
    if (guardrail === undefined || version === undefined) return undefined;
    const region = source.text(parameter('aws_region_name')) ?? 'us-east-1';
    return { kind: 'bedrock', guardrail, version, region };
  },
  presidio(source, parameter) {
    const entities = source.use(parameter('pii_entities_config'));
    for (const name of ['presidio_analyzer_api_base', 'presidio_anonymizer_api_base']) source.use(parameter(name));
    if (!isMapping(entities)) {
      source.note(parameter('guardrail'), 'what has a fixed form is found in the process; names and places are not');
      return { kind: 'pii', types: everyPersonalType, action: 'mask' };
    }
    const types = Object.keys(entities).flatMap((type) => personalTypes[type] ?? []);
    const unknown = Object.keys(entities).filter((type) => personalTypes[type] === undefined);
    if (unknown.length > 0) source.note(parameter('pii_entities_config'), `no counterpart for ${unknown.join(', ')}`);
    const isBlocked = Object.values(entities).includes('BLOCK');
    if (isBlocked && Object.values(entities).includes('MASK')) {
      source.note(parameter('pii_entities_config'), 'a guardrail has one action: all of these types block');
    }
    return types.length === 0 ? undefined : { kind: 'pii', types, action: isBlocked ? 'block' : 'mask' };
  },
  litellm_content_filter(source, parameter) {
    const words = source
      .list(parameter('blocked_words'))
      .flatMap((item) => (isMapping(item) && typeof item.keyword === 'string' ? [item] : []));
    const patterns = source
      .list(parameter('patterns'))
      .flatMap((item) => (isMapping(item) && typeof item.pattern === 'string' ? [item] : []));
    const [list, member] = words.length > 0 ? [words, 'blocked_words'] : [patterns, 'patterns'];
    if (list.length === 0) return undefined;
    source.use(parameter(member));
    const action = list.every((item) => item.action === 'MASK') ? 'mask' : 'block';
    if (words.length > 0) return { kind: 'words', words: words.map(({ keyword }) => keyword), action };
    const named = patterns.map(({ name, pattern }, at) => ({
      name: String(name ?? `pattern-${at + 1}`),
      regex: pattern,
    }));
    return { kind: 'patterns', patterns: named, action };
  },
};
