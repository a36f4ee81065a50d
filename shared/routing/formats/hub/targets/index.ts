// Lists the formats to which calls are translated, each loaded with its package when a provider of it is called for the
// first time. A new format is a file and a line in this table.
import type { HubApi } from '../../../../foundation/constants/index.ts';
import type { HubTarget } from './hub-target.ts';

const loaders: Readonly<Record<HubApi, () => Promise<{ readonly target: HubTarget }>>> = {
  messages: () => import('./messages-target.ts'),
  responses: () => import('./responses-target.ts'),
  converse: () => import('./converse-target.ts'),
  'chat-completions': () => import('./chat-completions-target.ts'),
  vertex: () => import('./vertex-target.ts'),
  'generate-content': () => import('./generate-content-target.ts'),
};

export const loadTarget = async (api: HubApi): Promise<HubTarget> => (await loaders[api]()).target;
