// A preset (contract 3) is part of a request that the workspace wrote beforehand. Pure: a body goes in and the body that
// counts comes out, to be read and checked again as if the client had sent it. The request wins, member by member;
// only data policies cannot be won back.
import { fail, GatewayError } from '../../errors/index.ts';
import { type PresetOption, readChatRequest } from '../../protocol/wire/index.ts';
import type { WorkspaceDocument } from './document.ts';
import { mergeBodies } from './merge-bodies.ts';
import { strictest } from './strictest.ts';

type Body = Readonly<Record<string, unknown>>;

/** What a preset needs to know of the workspace. */
type PresetOwner = Pick<WorkspaceDocument, 'features' | 'presets' | 'data_policy'>;

export interface AppliedPreset<Workspace> {
  readonly kind: 'none' | 'applied';
  /** The merged body, without `preset`. The very body that came in where no preset was named. */
  readonly body: Record<string, unknown>;
  /**
   * The workspace as this call meets it: it enforces the data policy of the preset on top of its own, so a request
   * that asks for less is refused where every loosening is (contract 5), after unknown models.
   */
  readonly workspace: Workspace;
}

/**
 * Gives preset_not_found (no such slug or version, or presets are off in the workspace), and for a stored preset that
 * cannot be part of any request the error that such a request would get.
 */
export function applyPreset<Workspace extends PresetOwner>(
  body: Record<string, unknown>,
  workspace: Workspace,
  wish: PresetOption | undefined,
): AppliedPreset<Workspace> | GatewayError {
  if (wish === undefined) return { kind: 'none', body, workspace };
  if (!workspace.features.presets) {
    return fail('preset_not_found', { message: 'Presets are not enabled for the workspace.' });
  }
  const config = findConfig(workspace, readWish(wish));
  if (config === undefined) return fail('preset_not_found');
  const alone = readAlone(config);
  if (alone instanceof GatewayError) return alone;
  const data_policy = strictest(workspace.data_policy, alone.provider.policy);
  return { kind: 'applied', body: mergeBodies(config, body), workspace: { ...workspace, data_policy } };
}

interface NamedPreset {
  readonly slug: string;
  /** Undefined: the designated one. */
  readonly version: string | undefined;
}

function readWish(wish: PresetOption): NamedPreset {
  if (typeof wish !== 'string') return { slug: wish.slug, version: wish.version ?? undefined };
  const [slug = '', ...version] = wish.split('@');
  return { slug, version: version.length === 0 ? undefined : version.join('@') };
}

function findConfig({ presets }: PresetOwner, { slug, version }: NamedPreset): Body | undefined {
  const preset = presets.find((known) => known.slug === slug);
  const wanted = version ?? preset?.designated;
  return preset?.versions.find((known) => known.version === wanted)?.config;
}

/** The preset as a request of its own: a mistake in it is not blamed on the client, whose request may even hide it. */
function readAlone(config: Body) {
  const request = readChatRequest({ ...config, model: 'preset', messages: [{ role: 'user' }] });
  if (!(request instanceof GatewayError)) return request;
  return fail(request.code as 'invalid_request', { message: `The preset is not valid: ${request.message}` });
}
