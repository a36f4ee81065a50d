// What a Messages call needs a candidate to be able to do, and which of its members asks for that.
import type { CallSize, Feature, RequestNeeds } from '../../wire/index.ts';
import { dearerFeatures, dearerTools, isClientTool } from '../index.ts';
import { pathOfImage } from './message-media.ts';
import type { MessagesMembers } from './messages-request.ts';

export function readNeeds(
  members: MessagesMembers,
  betas: string | undefined,
  { textBytes, contexts }: Pick<CallSize, 'textBytes' | 'contexts'>,
): RequestNeeds {
  const { raw, stream } = members;
  const tools = Array.isArray(raw.tools) ? raw.tools : [];
  const image = pathOfImage(raw.messages);
  const features: Feature[] = [
    ...(tools.some(isClientTool) ? [{ name: 'tools', member: 'tools' } as const] : []),
    ...(image === undefined ? [] : [{ name: 'vision', member: image } as const]),
    ...(stream ? [{ name: 'streaming', member: 'stream' } as const] : []),
    ...dearerFeatures(raw, { usualTiers, betas }),
    ...dearerTools(tools, 'tools'),
  ];
  // A thread is a conversation that its provider keeps.
  const storingMember = (raw.thread ?? null) === null ? undefined : 'thread';
  return { features, schemaMember: undefined, storingMember, promptBytes: textBytes / contexts };
}

/** Tiers at the catalogue's prices or below. */
const usualTiers: readonly string[] = ['auto', 'standard_only', 'default', 'flex'];
