// Whose form the lists of models have, wherever they are served: that of the client whose header came.
import { headerNames, routePaths } from '../../foundation/constants/index.ts';
import type { RouteTable } from './route-table.ts';

export const modelListRules: RouteTable['routeRules'] = {
  [routePaths.models]: {
    formatWith: { [headerNames.anthropicVersion]: 'messages', [headerNames.googleApiKey]: 'google' },
  },
};
