// Checks a provider's deviations from its format, as the operator writes them: fields that the provider does not get,
// and fields with other names. No change may let a call cost more than its reservation, or let a provider store data
// that it must not store.
import * as z from 'zod';
import type { ProviderApi } from '../../foundation/constants/index.ts';
import { outputBoundNames } from '../../protocol/interfaces/chat-completions/index.ts';
import { stateMemberShapes, surchargeFields } from '../../protocol/interfaces/index.ts';
import { text } from '../value-forms/index.ts';
import { mapping } from './fields.ts';

/** Fields without which a request asks a provider for nothing. */
const neededMembers = ['model', 'messages', 'input', 'contents', 'stream'];
const isNeeded = { error: 'is needed in every call' };
const beta = text(128).check(
  z.regex(/^[\w.-]+$/, { error: 'must be the name of a beta, such as context-management-2025-06-27' }),
);
const memberName = text(64).check(
  z.regex(/^[A-Za-z_]\w*$/, { error: 'must be the name of a member' }),
  z.refine((name) => !neededMembers.includes(name), isNeeded),
);
const memberPath = text(128).check(
  z.regex(/^[A-Za-z_]\w*(\.[A-Za-z_]\w*)?$/, { error: 'must be the name of a member, or member.member' }),
  z.refine((path) => !neededMembers.includes(path), isNeeded),
);

export const drops = mapping('providers[].drops', {
  betas: z.array(beta).optional(),
  members: z.array(memberPath).optional(),
});
export const renames = z.record(memberName, memberName);

const boundNames: readonly string[] = outputBoundNames;
/** Paths of the output bound in formats that have no name for it at the top level. */
const boundPaths: readonly string[] = [
  ...boundNames,
  ...['inferenceConfig', 'inferenceConfig.maxTokens', 'generationConfig', 'generationConfig.maxOutputTokens'],
];
/** Fields that determine a price, a policy, or access to data. They are read only under their own name. */
const readNames: readonly string[] = [
  ...surchargeFields,
  ...Object.keys(stateMemberShapes),
  ...['tools', 'functions', 'n', 'store', 'background', 'prompt_cache_retention'],
];

interface Changes {
  readonly drops?: z.infer<typeof drops> | undefined;
  readonly renames?: z.infer<typeof renames> | undefined;
}

interface Fault {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

export function changeFaults(
  { drops: dropped, renames: renamed = {} }: Changes,
  apis: readonly ProviderApi[],
): Fault[] {
  const dropFaults = (dropped?.members ?? []).flatMap((path, index) => {
    const message = dropFault(path, apis);
    return message === undefined ? [] : [{ path: ['drops', 'members', index], message }];
  });
  const names = Object.keys(renamed);
  const renameFaults = Object.entries(renamed).flatMap(([name, other], index) => {
    const isTwice = Object.values(renamed).indexOf(other) < index;
    const message = isTwice ? `${other} is the new name of another member already` : renameFault(name, other, names);
    return message === undefined ? [] : [{ path: ['renames', name], message }];
  });
  return [...dropFaults, ...renameFaults];
}

function dropFault(path: string, apis: readonly ProviderApi[]): string | undefined {
  if (boundPaths.includes(path)) return 'bounds the output that is reserved for a call; renames gives it another name';
  // Responses stores every answer unless that is forbidden.
  return path === 'store' && apis.includes('responses') ? 'says to Responses that nothing is to be stored' : undefined;
}

function renameFault(name: string, other: string, names: readonly string[]): string | undefined {
  if (names.includes(other)) return `${other} has a new name itself`;
  if (boundNames.includes(other) && !boundNames.includes(name))
    return `${other} bounds the output, and ${name} does not`;
  return readNames.includes(other) ? `${other} is read under its own name alone` : undefined;
}
