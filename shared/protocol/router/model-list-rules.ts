// Chooses the format of a list of models, wherever it is served, by the client whose header was sent.
import { headerNames, routePaths } from '../../foundation/constants/index.ts';
import type { RouteTable } from './route-table.ts';

export const modelListRules: RouteTable['routeRules'] = {
  [routePaths.models]: {
    formatWith: { [headerNames.anthropicVersion]: 'messages', [headerNames.googleApiKey]: 'google' },
  },
};
